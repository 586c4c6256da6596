import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemEnvironment } from '../../../src/process-start/system-environment.ts';
import { systemProcessTable } from '../../../src/supervision/system-process-table.ts';

test('a process knows itself and others, but signals and finds them only as a supervisor', () => {
  const { processes, pid } = systemEnvironment();
  assert.equal(processes.own().pid, pid);
  assert.ok(processes.isAlive(processes.own()));
  assert.throws(() => processes.signal(pid, 'SIGTERM'), /gets the whole process table/);
  assert.throws(() => processes.findByVariable('HERON_TOPOLOGY_ID', 'x'), /whole process table/);
  assert.equal(systemEnvironment(systemProcessTable).processes, systemProcessTable);
});

test('its use of the machine is that of this process', () => {
  const { cpuUserUs, cpuSystemUs, residentBytes } = systemEnvironment().resourceUse();
  assert.ok(cpuUserUs > 0 && cpuSystemUs >= 0);
  assert.ok(residentBytes > 1_000_000);
});

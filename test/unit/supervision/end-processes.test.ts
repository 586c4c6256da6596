import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endProcesses, killProcesses } from '../../../src/supervision/end-processes.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ScriptedProcessTable } from '../../support/scripted-process-table.ts';
import { timePassing } from '../../support/time-passing.ts';

const term = (pid: number) => ({ pid, name: 'SIGTERM', group: false });
const kill = (pid: number) => ({ pid, name: 'SIGKILL', group: false });
const killGroup = (pid: number) => ({ pid, name: 'SIGKILL', group: true });

test('a process that heeds SIGTERM gets nothing else', async () => {
  const processes = new ScriptedProcessTable();
  const clock = new ManualClock();
  const identities = [processes.add(7), processes.add(8)];
  const left = await timePassing(
    clock,
    endProcesses(identities, { processes, clock, graceMs: 500 }),
  );
  assert.deepEqual(left, []);
  assert.deepEqual(processes.signals, [term(7), term(8)]);
  assert.ok(clock.now() < 500);
});

test('one that does not is killed after the grace time, with its group', async () => {
  const processes = new ScriptedProcessTable();
  const clock = new ManualClock();
  const stubborn = processes.add(7, ['SIGKILL']);
  const left = await timePassing(
    clock,
    endProcesses([stubborn], { processes, clock, graceMs: 500 }),
  );
  assert.deepEqual(left, []);
  assert.deepEqual(processes.signals, [term(7), killGroup(7), kill(7)]);
  assert.ok(clock.now() >= 500);
});

test('what the kernel does not let go of is named in the end', async () => {
  const processes = new ScriptedProcessTable();
  const clock = new ManualClock();
  const stuck = processes.add(7, []);
  assert.deepEqual(await timePassing(clock, killProcesses([stuck], { processes, clock })), [stuck]);
  assert.ok(clock.now() >= 10_000);
});

test('a pid that another process has by now is left alone', async () => {
  const processes = new ScriptedProcessTable();
  const clock = new ManualClock();
  const earlier = { ...processes.add(7), startTicks: 1 };
  assert.deepEqual(await endProcesses([earlier], { processes, clock, graceMs: 500 }), []);
  assert.deepEqual(processes.signals, []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemFiles } from '../../../src/base/system-files.ts';
import { adoptProcess } from '../../../src/supervision/adopt-process.ts';
import { readPidFile, writePidFile } from '../../../src/supervision/pid-file.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ScriptedProcessTable } from '../../support/scripted-process-table.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

async function anAdoptedProcess(t: Parameters<typeof temporaryFolder>[0]) {
  const { path: pidFolder } = await temporaryFolder(t);
  const processes = new ScriptedProcessTable();
  const clock = new ManualClock();
  const identity = processes.add(7, ['SIGKILL']);
  writePidFile(systemFiles, pidFolder, { name: 'executor-1', identity });
  const left = { name: 'executor-1', identity, pidFolder, outputFile: '/out' };
  const handle = adoptProcess(left, { processes, files: systemFiles, clock });
  return { pidFolder, processes, clock, handle };
}

test('its end is seen within a second, and its pid file goes', async (t) => {
  const { pidFolder, processes, clock, handle } = await anAdoptedProcess(t);
  assert.equal(handle.pid, 7);
  clock.advance(5_000);
  assert.notEqual(readPidFile(systemFiles, pidFolder, 'executor-1'), undefined);
  processes.output.set('/out', ['the last words']);
  processes.end(7);
  clock.advance(1_000);
  const ending = await handle.ended;
  assert.deepEqual(ending, { code: null, signal: null, lastLines: ['the last words'] });
  assert.equal(readPidFile(systemFiles, pidFolder, 'executor-1'), undefined);
  assert.equal(clock.pendingTimers, 0);
});

test('SIGTERM is for the process, SIGKILL for its group, neither for a dead one', async (t) => {
  const { processes, handle } = await anAdoptedProcess(t);
  handle.signal('SIGTERM');
  handle.signal('SIGKILL');
  processes.end(7);
  handle.signal('SIGKILL');
  assert.deepEqual(processes.signals, [
    { pid: 7, name: 'SIGTERM', group: false },
    { pid: 7, name: 'SIGKILL', group: true },
  ]);
});

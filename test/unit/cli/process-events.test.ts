import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId } from '../../../src/base/ids.ts';
import { ProcessEvents } from '../../../src/cli/process-events.ts';
import type { ContainerReport } from '../../../src/model/container-report.ts';

function reportWith(...exitTimes: readonly (number | undefined)[]): ContainerReport {
  return {
    containerId: containerId(1),
    host: 'here',
    pid: 1,
    startedAtMs: 1,
    processes: exitTimes.map((atMs, index) => ({
      name: `process-${index}`,
      pid: 1,
      state: 'running' as const,
      restarts: 0,
      startedAtMs: 1,
      ...(atMs !== undefined && {
        lastExit: { code: 1, signal: null, atMs, reason: 'ended', lastLines: [] },
      }),
    })),
  };
}

test('each end of a process is told once, however often it is reported', () => {
  const events = new ProcessEvents();
  const take = (...times: readonly (number | undefined)[]): readonly string[] =>
    events.take([reportWith(...times)]).map(({ process, exit }) => `${process} ${exit.atMs}`);
  assert.deepEqual(take(undefined, undefined), []);
  assert.deepEqual(take(undefined, 5), ['process-1 5']);
  assert.deepEqual(take(undefined, 5), []);
  assert.deepEqual(take(7, 8), ['process-0 7', 'process-1 8']);
  assert.deepEqual(take(7, 8), []);
});

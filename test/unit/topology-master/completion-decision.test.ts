import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId, taskId, topologyId } from '../../../src/base/ids.ts';
import type { Incident } from '../../../src/model/completion.ts';
import type { ProcessExit } from '../../../src/model/container-report.ts';
import {
  completionOf,
  isComplete,
  lostInstances,
  replacedProcesses,
} from '../../../src/topology-master/completion-decision.ts';
import { anAddress, anInstance } from '../../support/placements.ts';

test('a topology is complete when each of its tasks has ended', () => {
  const instances = [anInstance(1, 1), anInstance(1, 2)];
  const ended = (...tasks: number[]) => isComplete(instances, new Set(tasks.map(taskId)));
  assert.equal(ended(), false);
  assert.equal(ended(1), false);
  assert.equal(ended(1, 3), false);
  assert.equal(ended(1, 2), true);
  assert.equal(isComplete([], new Set()), false);
});

const EXIT: ProcessExit = {
  code: 1,
  signal: null,
  atMs: 500,
  reason: 'ended after an unexpected failure (code 1)',
  lastLines: [],
};

function recordOf(
  processes: Readonly<Record<string, ProcessExit | undefined>>,
  firstPlanAtMs = 0,
  seen: readonly Incident[] = [],
) {
  return completionOf({
    topologyId: topologyId('words-1'),
    nowMs: 1_000,
    firstPlanAtMs,
    seen,
    reports: [
      {
        containerId: containerId(1),
        host: '127.0.0.1',
        pid: 1,
        startedAtMs: 0,
        processes: Object.entries(processes).map(([name, lastExit]) => ({
          name,
          pid: 2,
          state: 'running' as const,
          restarts: 0,
          startedAtMs: 0,
          ...(lastExit && { lastExit }),
        })),
      },
    ],
  });
}

test('a run without exits has lost nothing', () => {
  assert.deepEqual(recordOf({ 'stmgr-1': undefined, container_1_word_1: undefined }), {
    topologyId: 'words-1',
    completedAtMs: 1_000,
    result: 'completed',
    incidents: [],
  });
});

test('exits of stream managers and instances are losses, oldest first', () => {
  const record = recordOf({ container_1_word_1: { ...EXIT, atMs: 700 }, 'stmgr-1': EXIT });
  assert.equal(record.result, 'completed-with-losses');
  assert.deepEqual(record.incidents, [
    { atMs: 500, container: 1, process: 'stmgr-1', reason: EXIT.reason },
    { atMs: 700, container: 1, process: 'container_1_word_1', reason: EXIT.reason },
  ]);
});

test('no loss: other processes, a port in use, and what was before the first plan', () => {
  const processes = {
    'heron-tmanager': EXIT,
    'metricsmgr-1': EXIT,
    'stmgr-1': { ...EXIT, code: 73 },
    container_1_word_1: { ...EXIT, atMs: 399 },
  };
  assert.equal(recordOf(processes, 400).result, 'completed');
});

test('what the master saw counts where the reports know nothing', () => {
  const replaced = { atMs: 10, container: 1, process: 'stmgr-1', reason: 'started again' };
  const facts = {
    topologyId: topologyId('words-1'),
    nowMs: 1_000,
    firstPlanAtMs: 0,
    reports: [],
    seen: [replaced],
  };
  assert.deepEqual(completionOf(facts).incidents, [replaced]);
  const [report] = [recordOf({ 'stmgr-1': EXIT })];
  assert.equal(report.incidents.length, 1);
});

test('a stream manager with another pid is another process', () => {
  const before = [anAddress(1), anAddress(2)];
  const after = [anAddress(1), anAddress(2, { pid: 77 })];
  assert.deepEqual(replacedProcesses(before, after, 5), [
    {
      atMs: 5,
      container: 2,
      process: 'stmgr-2',
      reason: 'started again: process 1002 on 127.0.0.1, now 77 on 127.0.0.1',
    },
  ]);
  assert.deepEqual(replacedProcesses(before, before, 5), []);
  assert.deepEqual(replacedProcesses([], after, 5), []);
});

test('what a stream manager has lost is named as the executor names it', () => {
  const registration = { address: anAddress(2), instances: [anInstance(2, 3), anInstance(2, 4)] };
  const lost = [
    { taskId: 4, lostAt: 7n },
    { taskId: 9, lostAt: 8n }, // Not one of its own.
  ];
  assert.deepEqual(lostInstances(registration, lost), [
    {
      atMs: 7,
      container: 2,
      process: anInstance(2, 4).id,
      reason: 'stmgr-2 lost the connection with it',
    },
  ]);
});

test('the same loss is not named twice: the report says more', () => {
  const { id } = anInstance(1, 1);
  const lost = { atMs: 501, container: 1, process: id, reason: 'lost' };
  assert.deepEqual(recordOf({ [id]: EXIT }, 0, [lost]).incidents, [
    { atMs: EXIT.atMs, container: 1, process: id, reason: EXIT.reason },
  ]);
  assert.deepEqual(recordOf({ [id]: { ...EXIT, atMs: 3 } }, 400, [lost]).incidents, [lost]);
});

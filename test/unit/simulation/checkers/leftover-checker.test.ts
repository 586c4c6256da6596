import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeftoverChecker } from '../../../../src/simulation/checkers/leftover-checker.ts';
import { aFinishedRun } from './finished-run.ts';
import { HandWritten } from './hand-written.ts';

const { workload } = new HandWritten();

test('nothing may be left after the end', () => {
  assert.deepEqual(new LeftoverChecker().finish(aFinishedRun(workload)), []);
  const leftovers = { processes: ['stmgr-1'], stateNodes: ['/pplans/a'], files: ['/run/1', '/b'] };
  assert.deepEqual(new LeftoverChecker().finish(aFinishedRun(workload, { leftovers })), [
    'processes are left: stmgr-1',
    'nodes of the state tree are left: /pplans/a',
    'files are left: /run/1, /b',
  ]);
});

test('a run that did not come to its end still has everything', () => {
  const leftovers = { processes: ['stmgr-1'], stateNodes: [], files: [] };
  const run = aFinishedRun(workload, { outcome: 'time', leftovers });
  assert.deepEqual(new LeftoverChecker().finish(run), []);
});

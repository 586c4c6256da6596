import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OverlapChecker } from '../../../../src/simulation/checkers/overlap-checker.ts';
import { aFinishedRun } from './finished-run.ts';
import { HandWritten } from './hand-written.ts';

test('every overlap that user code saw is a problem', () => {
  const { workload } = new HandWritten();
  const checker = new OverlapChecker();
  assert.deepEqual(checker.finish(aFinishedRun(workload)), []);
  workload.ledger.overlap('sink got a tick beside 1 pending calls');
  assert.deepEqual(checker.finish(aFinishedRun(workload)), [
    'sink got a tick beside 1 pending calls',
  ]);
});

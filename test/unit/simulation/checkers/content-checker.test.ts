import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContentChecker } from '../../../../src/simulation/checkers/content-checker.ts';
import { aFinishedRun } from './finished-run.ts';
import { HandWritten } from './hand-written.ts';

test('what user code misread is told, the first few of it by name', () => {
  const { workload } = new HandWritten();
  assert.deepEqual(new ContentChecker().finish(aFinishedRun(workload)), []);
  for (let tuple = 0; tuple < 7; tuple += 1) workload.ledger.misread(`tuple ${tuple} is odd`);
  const problems = new ContentChecker().finish(aFinishedRun(workload));
  assert.equal(problems[0], 'tuple 0 is odd');
  assert.equal(problems.at(-1), 'and 2 more like these');
});

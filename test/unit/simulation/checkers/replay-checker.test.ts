import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReplayChecker } from '../../../../src/simulation/checkers/replay-checker.ts';
import { ANY_FAULT } from './finished-run.ts';
import { TrackedRun } from './tracked-run.ts';

test('every record has to be done or given up, whatever went wrong', () => {
  const run = new TrackedRun();
  const source = run.trees.source(run.source, 4);
  for (let record = 0; record < 3; record += 1) source.sent(source.take()?.record ?? -1, record);
  source.acked(0);
  source.failed(1, 0);
  const problems = new ReplayChecker().finish(run.finished({ explanation: ANY_FAULT }));
  assert.equal(problems.length, 2);
  assert.match(problems[0] ?? '', /^1 records of task \d+ are unread/);
  assert.match(problems[1] ?? '', /^1 records of task \d+ are pending/);
});

test('nothing is said of a topology that was killed', () => {
  const run = new TrackedRun();
  run.trees.source(run.source, 4);
  assert.deepEqual(new ReplayChecker().finish(run.finished({ outcome: 'killed' })), []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskId } from '../../../../src/base/ids.ts';
import { EndTracker } from '../../../../src/instance/task/end-tracker.ts';

test('E1: input has ended when every upstream task has, however often one says so', () => {
  const ends = new EndTracker([taskId(1), taskId(2)]);
  assert.equal(ends.ended(taskId(1)), false);
  assert.equal(ends.ended(taskId(1)), false);
  assert.equal(ends.ended(taskId(7)), false);
  assert.equal(ends.isComplete, false);
  assert.equal(ends.ended(taskId(2)), true);
  assert.equal(ends.isComplete, true);
});

test('E2: a task without upstream tasks never ends by itself', () => {
  assert.equal(new EndTracker([]).isComplete, false);
});

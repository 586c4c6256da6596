import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chosenTasks } from '../../../../src/simulation/workload/task-choice.ts';

const TASKS = [3, 4, 5, 6];
const TUPLES = Array.from({ length: 100 }, (_, tuple) => tuple);

test('each tuple has tasks of its own, and all tasks have tuples', () => {
  for (const tuple of TUPLES)
    assert.deepEqual(chosenTasks(tuple, TASKS), chosenTasks(tuple, TASKS));
  const chosen = new Set(TUPLES.flatMap((tuple) => chosenTasks(tuple, TASKS)));
  assert.deepEqual(
    [...chosen].toSorted((a, b) => a - b),
    TASKS,
  );
});

test('there are as many different ones as asked for, or all', () => {
  for (const [copies, count] of [
    [1, 1],
    [3, 3],
    [9, 4],
  ] as const) {
    for (const tuple of TUPLES) {
      const chosen = new Set(chosenTasks(tuple, TASKS, copies));
      assert.equal(chosen.size, count);
    }
  }
});

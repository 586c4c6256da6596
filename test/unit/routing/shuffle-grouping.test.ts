import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { ShuffleGrouping } from '../../../src/routing/shuffle-grouping.ts';
import { destinationsOf } from '../../support/tuple-sets.ts';

const tasks = [3, 5, 8].map(taskId);

describe('ShuffleGrouping', () => {
  it('visits every task before it comes back to one', () => {
    const visited = destinationsOf(new ShuffleGrouping(tasks, createSeededRandom(1)), 9);
    assert.deepEqual(
      visited.slice(0, 3).toSorted((a, b) => a - b),
      [3, 5, 8],
    );
    assert.deepEqual(visited.slice(3, 6), visited.slice(0, 3));
    assert.deepEqual(visited.slice(6, 9), visited.slice(0, 3));
  });

  it('starts at a random task, so that emitters do not march in step', () => {
    const random = createSeededRandom(7);
    const starts = Array.from(
      { length: 300 },
      () => destinationsOf(new ShuffleGrouping(tasks, random), 1)[0],
    );
    for (const task of tasks) {
      const share = starts.filter((start) => start === task).length;
      assert.ok(share > 60 && share < 140, `task ${task} was first ${share} times`);
    }
  });

  it('works for a single task', () => {
    const grouping = new ShuffleGrouping([taskId(4)], createSeededRandom(1));
    assert.deepEqual(destinationsOf(grouping, 3), [4, 4, 4]);
  });
});

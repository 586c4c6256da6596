import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { GlobalGrouping } from '../../../src/routing/global-grouping.ts';
import { destinationsOf } from '../../support/tuple-sets.ts';

describe('GlobalGrouping', () => {
  it('gives everything to the smallest task', () => {
    assert.deepEqual(destinationsOf(new GlobalGrouping([3, 5, 8].map(taskId)), 2), [3, 3]);
  });
});

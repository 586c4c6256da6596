import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { AllGrouping } from '../../../src/routing/all-grouping.ts';
import { destinationsOf } from '../../support/tuple-sets.ts';

describe('AllGrouping', () => {
  it('gives every task a copy', () => {
    assert.deepEqual(destinationsOf(new AllGrouping([3, 5, 8].map(taskId)), 2), [3, 5, 8, 3, 5, 8]);
  });
});

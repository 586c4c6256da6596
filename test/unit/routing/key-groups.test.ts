import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { AssertionError } from '../../../src/base/assert.ts';
import { taskId } from '../../../src/base/ids.ts';
import {
  combineHashes,
  keyGroupOf,
  ownersOfKeyGroups,
  taskIndexOfKeyGroup,
} from '../../../src/routing/key-groups.ts';

const GROUPS = 1024;

describe('keyGroupOf', () => {
  it('gives every 32-bit hash a group, negative ones too', () => {
    fc.assert(
      fc.property(fc.integer(), (hash) => {
        const group = keyGroupOf(hash, GROUPS);
        assert.ok(Number.isInteger(group) && group >= 0 && group < GROUPS);
      }),
    );
    assert.equal(keyGroupOf(-1, GROUPS), GROUPS - 1);
    assert.equal(keyGroupOf(-(2 ** 31), GROUPS), 0);
  });
});

describe('ownersOfKeyGroups', () => {
  const counts = fc.integer({ min: 1, max: 300 });

  it('gives each task one contiguous range, and every task one', () => {
    fc.assert(
      fc.property(counts, fc.integer({ min: 0, max: 2_000 }), (taskCount, more) => {
        const tasks = Array.from({ length: taskCount }, (_, index) => taskId(index * 3 + 1));
        const owners = [...ownersOfKeyGroups(tasks, taskCount + more)];
        assert.deepEqual(
          owners,
          owners.toSorted((a, b) => a - b),
        );
        assert.deepEqual([...new Set(owners)], tasks);
      }),
    );
  });

  it('shares the groups evenly: ranges differ by one at most', () => {
    fc.assert(
      fc.property(counts, (taskCount) => {
        const sizes = new Map<number, number>();
        for (let group = 0; group < GROUPS; group += 1) {
          const index = taskIndexOfKeyGroup(group, taskCount, GROUPS);
          sizes.set(index, (sizes.get(index) ?? 0) + 1);
        }
        const all = [...sizes.values()];
        assert.ok(Math.max(...all) - Math.min(...all) <= 1);
      }),
    );
  });

  it('refuses more tasks than groups', () => {
    assert.throws(() => ownersOfKeyGroups([1, 2, 3].map(taskId), 2), AssertionError);
  });
});

describe('combineHashes', () => {
  it('depends on the order of the fields', () => {
    assert.notEqual(combineHashes(1, 2), combineHashes(2, 1));
  });

  it('stays a 32-bit number', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (before, next) => {
        const combined = combineHashes(before, next);
        assert.equal(combined, combined | 0);
      }),
    );
  });
});

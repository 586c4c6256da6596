import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { endOf, endOfPlan } from '../../../../src/simulation/faults/fault.ts';
import {
  generateFaults,
  withBlackHole,
} from '../../../../src/simulation/faults/generate-faults.ts';

const limits = { faultsMax: 6, fromMs: 500, toMs: 9_000, horizonMs: 12_000, containers: 2 };
const plans = Array.from({ length: 2_000 }, (_, seed) =>
  generateFaults(createSeededRandom(seed), limits),
);

test('the same seed makes the same plan, another one another', () => {
  assert.deepEqual(generateFaults(createSeededRandom(5), limits), plans[5]);
  assert.notDeepEqual(plans[5], plans[6]);
});

test('faults begin in their time and end before the horizon (G1)', () => {
  for (const plan of plans) {
    assert.ok(plan.length >= 1 && plan.length <= 6);
    for (const fault of plan) {
      assert.ok(fault.atMs >= 500 && fault.atMs <= 9_000, JSON.stringify(fault));
      assert.ok(endOf(fault) <= 12_000.01, JSON.stringify(fault));
    }
  }
});

test('faults stand in the order of their times', () => {
  for (const plan of plans) {
    const times = plan.map(({ atMs }) => atMs);
    assert.deepEqual(
      times,
      times.toSorted((one, other) => one - other),
    );
  }
});

test('every kind comes up, and only the kinds that were asked for', () => {
  const kinds = new Set(plans.flat().map(({ kind }) => kind));
  assert.equal(kinds.size, 13);
  for (const kind of ['pause', 'black-hole'] as const) {
    const chosen = generateFaults(createSeededRandom(1), { ...limits, kinds: [kind] });
    assert.ok(chosen.length > 0 && chosen.every((fault) => fault.kind === kind));
  }
});

test('black holes come on top of a plan now and then, only on links that are watched', () => {
  let holes = 0;
  for (const [seed, plan] of plans.entries()) {
    const more = withBlackHole(createSeededRandom(seed), plan, limits);
    const added = more.filter((fault) => fault.kind === 'black-hole');
    holes += added.length;
    assert.deepEqual(
      more.filter((fault) => fault.kind !== 'black-hole'),
      plan,
    );
    for (const { between } of added) {
      const ends = between.flat().map((target) => target.replace(/#.*/, ''));
      assert.ok(ends.every((role) => role === 'stream-manager' || role === 'instance'));
    }
  }
  assert.ok(holes > 200 && holes < 500, `${holes} of 2000`);
  assert.deepEqual(withBlackHole(createSeededRandom(1), [], limits), []);
});

test('a plan ends with what lasts longest', () => {
  const plan = [
    { atMs: 1, kind: 'full-disk', forMs: 9 },
    { atMs: 5, kind: 'duplicate-master' },
  ] as const;
  assert.equal(endOfPlan(plan), 10);
  assert.equal(endOfPlan([]), 0);
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSeededRandom } from '../../../src/base/random.ts';
import { BacklogAge } from '../../../src/stream-manager/backlog-age.ts';

describe('BacklogAge', () => {
  it('is that of the oldest sample that has not been taken', () => {
    const age = new BacklogAge();
    age.sample(1_000, 100, 0);
    age.sample(2_000, 340, 120);
    assert.equal(age.ageMs(2_400, 120), 400);
    assert.equal(age.ageMs(2_500, 340), 0);
  });

  it('is none before the first sample and when all is taken', () => {
    const age = new BacklogAge();
    assert.equal(age.ageMs(5_000, 0), 0);
    age.sample(1_000, 0, 0);
    assert.equal(age.ageMs(5_000, 0), 0);
    age.sample(6_000, 10, 10);
    assert.equal(age.ageMs(9_000, 10), 0);
  });

  it('goes on from what comes after a lull, not from what came before', () => {
    const age = new BacklogAge();
    age.sample(1_000, 50, 0);
    assert.equal(age.ageMs(3_000, 50), 0);
    age.sample(60_000, 80, 50);
    assert.equal(age.ageMs(60_010, 50), 10);
  });

  it('tells the true age of the oldest however long it has been there', () => {
    const age = new BacklogAge();
    for (let second = 1; second <= 100; second += 1) age.sample(second * 1_000, second * 10, 0);
    assert.equal(age.ageMs(100_500, 0), 99_500);
  });

  it('is never more than the true age, and less by at most one interval', () => {
    const random = createSeededRandom(1);
    const age = new BacklogAge();
    const intervalMs = 100;
    const arrivals: { atMs: number; upTo: number }[] = [];
    let [accepted, taken] = [0, 0];
    for (let nowMs = 0; nowMs < 20_000; nowMs += 10) {
      if (random.below(10) < 3) {
        accepted += 1 + random.below(50);
        arrivals.push({ atMs: nowMs, upTo: accepted });
      }
      // At most as many samples as there is room for: what waits stays young.
      taken = Math.max(taken, arrivals.findLast(({ atMs }) => atMs < nowMs - 1_000)?.upTo ?? 0);
      if (random.below(10) < 1) taken = Math.min(accepted, taken + 40);
      if (nowMs % intervalMs === 0) age.sample(nowMs, accepted, taken);
      const oldest = arrivals.find(({ upTo }) => upTo > taken);
      const trueMs = oldest === undefined ? 0 : nowMs - oldest.atMs;
      const toldMs = age.ageMs(nowMs, taken);
      assert.ok(toldMs <= trueMs, `${toldMs} is above ${trueMs}`);
      assert.ok(toldMs >= trueMs - intervalMs, `${toldMs} is far below ${trueMs}`);
    }
  });
});

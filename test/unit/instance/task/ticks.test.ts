import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { msBetween, ticksAt } from '../../../../src/instance/task/ticks.ts';

describe('moments in ticks', () => {
  it('are int32, and tell the time between two, also across the ends of the range', () => {
    for (const at of [0, 1.5, 2 ** 24 - 1, 2 ** 24, 2 ** 25 - 1, 2 ** 25, 1e12]) {
      for (const ms of [0, 0.25, 1, 20, 60_000, 8 * 3_600_000]) {
        const [from, to] = [ticksAt(at), ticksAt(at + ms)];
        assert.equal(from, from | 0);
        assert.ok(Math.abs(msBetween(from, to) - ms) < 0.01, `${ms} ms from ${at}`);
      }
    }
  });
});

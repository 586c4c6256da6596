import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { microseconds, WallClock } from '../../../../src/simulation/kernel/simulated-time.ts';

describe('simulated time', () => {
  it('is rounded up to whole microseconds, and has no past', () => {
    const times = [0, -1, 0.0001, 0.001, 1.5, 1.50001, Number.POSITIVE_INFINITY].map(microseconds);
    assert.deepEqual(times, [0, 0, 1, 1, 1500, 1501, Number.POSITIVE_INFINITY]);
  });

  it('is told by wall clocks in whole milliseconds', () => {
    const clock = new WallClock(1000);
    clock.step(-0.5);
    assert.deepEqual([clock.at(0), clock.at(2600)], [999, 1002]);
  });
});

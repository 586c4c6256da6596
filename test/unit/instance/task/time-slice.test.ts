import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TimeSlice } from '../../../../src/instance/task/time-slice.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** How many steps of one slice happen when each takes so long. */
function stepsOf(slice: TimeSlice, clock: ManualClock, stepMs: number): number {
  slice.begin();
  for (let steps = 1; ; steps += 1) {
    clock.advance(stepMs);
    if (slice.isOver()) return steps;
  }
}

describe('a time slice', () => {
  it('is over after ten milliseconds', () => {
    const clock = new ManualClock();
    assert.equal(stepsOf(new TimeSlice(clock), clock, 2), 5);
  });

  it('S1: is over after one slow step, also when steps were quick before', () => {
    const clock = new ManualClock();
    const slice = new TimeSlice(clock);
    assert.equal(stepsOf(slice, clock, 500), 1);
    stepsOf(slice, clock, 0.001);
    stepsOf(slice, clock, 500);
    assert.equal(stepsOf(slice, clock, 500), 1);
  });

  it('S1: reads the clock once in 64 quick steps', () => {
    let reads = 0;
    const clock = new ManualClock();
    const now = clock.now.bind(clock);
    clock.now = () => {
      reads += 1;
      return now();
    };
    const slice = new TimeSlice(clock);
    stepsOf(slice, clock, 0.01);
    reads = 0;
    const steps = stepsOf(slice, clock, 0.01);
    assert.ok(steps >= 1000 && steps < 1000 + 64, `${steps} steps`);
    assert.ok(reads <= 1 + Math.ceil(steps / 64), `${reads} reads`);
  });

  it('lets what is at hand happen before it goes on', async () => {
    const clock = new ManualClock();
    const seen: string[] = [];
    const slice = new TimeSlice(clock);
    clock.soon(() => seen.push('at hand'));
    const way = slice.giveWay().then(() => seen.push('on'));
    clock.runSoon();
    await way;
    assert.deepEqual(seen, ['at hand', 'on']);
  });
});

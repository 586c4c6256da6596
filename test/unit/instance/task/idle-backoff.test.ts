import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IdleBackoff } from '../../../../src/instance/task/idle-backoff.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { settled } from '../../../support/settled.ts';

/** Milliseconds that each of so many waits takes. */
async function waits(backoff: IdleBackoff, clock: ManualClock, count: number): Promise<number[]> {
  const found: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const startedAt = clock.now();
    const wait = { isOver: false };
    void backoff.wait().then(() => {
      wait.isOver = true;
    });
    clock.runSoon();
    await settled();
    while (!wait.isOver) {
      clock.advance(1);
      await settled();
    }
    found.push(clock.now() - startedAt);
  }
  return found;
}

describe('the wait of a spout that had nothing to emit (R16)', () => {
  it('grows from nothing to the limit', async () => {
    const clock = new ManualClock();
    const backoff = new IdleBackoff(clock, 10);
    assert.deepEqual(await waits(backoff, clock, 7), [0, 1, 2, 4, 8, 10, 10]);
  });

  it('starts again after a tuple', async () => {
    const clock = new ManualClock();
    const backoff = new IdleBackoff(clock, 10);
    await waits(backoff, clock, 4);
    backoff.reset();
    assert.deepEqual(await waits(backoff, clock, 3), [0, 1, 2]);
  });

  it('ends at once by wake, and leaves no timer', async () => {
    const clock = new ManualClock();
    const backoff = new IdleBackoff(clock, 10);
    await waits(backoff, clock, 5);
    const wait = backoff.wait();
    assert.equal(clock.pendingTimers, 1);
    backoff.wake();
    await wait;
    assert.equal(clock.pendingTimers, 0);
  });

  it('does not happen when wake came first, once', async () => {
    const clock = new ManualClock();
    const backoff = new IdleBackoff(clock, 10);
    await waits(backoff, clock, 5);
    backoff.wake();
    backoff.wake();
    assert.deepEqual(await waits(backoff, clock, 2), [0, 10]);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { EventQueue, type SimulatedEvent } from '../../../../src/simulation/kernel/event-queue.ts';

const nothing = (): void => {};

function drained(queue: EventQueue): SimulatedEvent[] {
  const events: SimulatedEvent[] = [];
  for (let event = queue.first; event !== undefined; event = queue.first) {
    queue.remove(event);
    events.push(event);
  }
  return events;
}

describe('the event queue', () => {
  it('gives events by time, and those of one moment in the order of their making', () => {
    const random = createSeededRandom(1);
    for (let round = 0; round < 50; round += 1) {
      const queue = new EventQueue();
      const made = Array.from({ length: random.below(200) }, () =>
        queue.add(random.below(20), undefined, nothing),
      );
      const kept = made.filter((event) => {
        if (random.below(3) > 0) return true;
        event.cancel();
        return false;
      });
      const expected = kept.toSorted((a, b) => a.atUs - b.atUs || a.sequence - b.sequence);
      assert.equal(queue.size, kept.length);
      assert.deepEqual(
        drained(queue).map(({ sequence }) => sequence),
        expected.map(({ sequence }) => sequence),
      );
    }
  });

  it('keeps nothing of a cancelled event, however often it is cancelled', () => {
    const queue = new EventQueue();
    const event = queue.add(5, undefined, nothing);
    event.cancel();
    event.cancel();
    assert.deepEqual([queue.size, event.call], [0, undefined]);
  });

  it('takes in nothing that never happens', () => {
    const queue = new EventQueue();
    const event = queue.add(Number.POSITIVE_INFINITY, undefined, nothing);
    assert.equal(queue.size, 0);
    event.cancel();
  });

  it('refuses an event without a time', () => {
    assert.throws(() => new EventQueue().add(Number.NaN, undefined, nothing), /has a time/);
  });
});

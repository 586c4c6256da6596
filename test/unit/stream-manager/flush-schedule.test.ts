import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FlushSchedule } from '../../../src/stream-manager/flush-schedule.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('FlushSchedule', () => {
  it('flushes outboxes first, then sources, also those that the outboxes added', () => {
    const clock = new ManualClock();
    const schedule = new FlushSchedule(clock);
    const order: string[] = [];
    schedule.addSource({ flush: () => order.push('source') });
    schedule.addOutbox({
      flush: () => {
        order.push('outbox');
        schedule.addSource({ flush: () => order.push('late source') });
      },
    });
    assert.deepEqual(order, []);
    clock.runSoon();
    assert.deepEqual(order, ['outbox', 'source', 'late source']);
  });

  it('flushes once for what was added once', () => {
    const clock = new ManualClock();
    const schedule = new FlushSchedule(clock);
    let flushes = 0;
    schedule.addOutbox({ flush: () => (flushes += 1) });
    clock.runSoon();
    clock.runSoon();
    assert.equal(flushes, 1);
  });

  it('takes what is added while it flushes in the next turn', () => {
    const clock = new ManualClock();
    const schedule = new FlushSchedule(clock);
    let flushes = 0;
    const outbox = { flush: () => (flushes += 1) };
    schedule.addOutbox({ flush: () => schedule.addOutbox(outbox) });
    clock.runSoon();
    assert.equal(flushes, 1);
  });
});

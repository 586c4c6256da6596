import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AckedAtOnce } from '../../../../src/instance/task/acked-at-once.ts';
import { Counter } from '../../../../src/metrics/metrics-registry.ts';

describe('messages that are acked at once', () => {
  it('K2: come once each, in order, however many wait', () => {
    const acked = new Counter();
    const messages = new AckedAtOnce(acked);
    const told: unknown[] = [];
    let added = 0;
    const add = (count: number): void => {
      for (let last = added + count; added < last; added += 1) messages.add(added);
    };
    const tell = (count: number): void => {
      for (let left = count; left > 0 && messages.next(); left -= 1) told.push(messages.messageId);
    };
    add(3_000);
    tell(1_500);
    assert.equal(messages.count, 1_500);
    add(2_000);
    tell(10_000);
    assert.equal(messages.hasNews, false);
    assert.equal(messages.next(), false);
    add(1);
    tell(1);
    assert.deepEqual(
      told,
      Array.from({ length: 5_001 }, (_, index) => index),
    );
    assert.equal(acked.value, 5_001);
  });
});

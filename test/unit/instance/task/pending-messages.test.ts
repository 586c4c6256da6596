import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { PendingMessages } from '../../../../src/instance/task/pending-messages.ts';

interface Key {
  readonly low: number;
  readonly high: number;
}

/** Adds a message and gives its key. */
function add(pending: PendingMessages, id: unknown, atMs = 0, stream = 0): Key {
  const key = { low: pending.nextLow, high: pending.nextHigh };
  pending.add(id, stream, atMs);
  return key;
}

function take(pending: PendingMessages, { low, high }: Key): unknown {
  return pending.take(low, high) ? pending.messageId : undefined;
}

describe('pending messages', () => {
  it('are taken once, by key, with what is known of them', () => {
    const pending = new PendingMessages(7);
    const [first, second] = [add(pending, 'a', 10, 2), add(pending, null, 20, 1)];
    assert.deepEqual(first, { low: 1, high: 7 });
    assert.equal(pending.count, 2);
    assert.equal(pending.take(second.low, second.high), true);
    assert.deepEqual([pending.messageId, pending.emittedAtMs, pending.stream], [null, 20, 1]);
    assert.equal(pending.take(second.low, second.high), false);
    assert.equal(take(pending, first), 'a');
    assert.equal(pending.count, 0);
  });

  it('are not found by a key that has not been given, or that another process had', () => {
    const pending = new PendingMessages(7);
    add(pending, 'a');
    for (const [low, high] of [
      [0, 7],
      [2, 7],
      [1, 6],
      [1, 8],
      [1, -7],
      [-1, -1],
    ] as const) {
      assert.equal(pending.take(low, high), false, `${high}:${low}`);
    }
    assert.equal(pending.count, 1);
  });

  for (const [name, firstHigh, first] of [
    ['2^31 of the low half', 5, 2 ** 31 - 3],
    ['2^32 of the low half', 5, 2 ** 32 - 3],
    ['2^53 of the key', 2 ** 21, 2 ** 32 - 3],
    ['2^63 of the key', 2 ** 31 - 1, 2 ** 32 - 3],
    ['2^64 of the key', -1, 2 ** 32 - 3],
  ] as const) {
    it(`S03: have keys of their own across ${name}`, () => {
      const pending = new PendingMessages(firstHigh, first);
      const keys = Array.from({ length: 8 }, (_, index) => add(pending, index));
      assert.equal(new Set(keys.map(({ low, high }) => `${high}:${low}`)).size, 8);
      assert.ok(
        keys.every(({ low, high }) => (low | high) !== 0),
        'M1: never zero',
      );
      assert.ok(keys.every(({ low, high }) => low === (low | 0) && high === (high | 0)));
      const backwards = keys.toReversed();
      assert.deepEqual(
        backwards.map((key) => take(pending, key)),
        [7, 6, 5, 4, 3, 2, 1, 0],
      );
    });
  }

  it('come oldest first, without those that were settled, up to a number', () => {
    const pending = new PendingMessages(0);
    const keys = Array.from({ length: 3_000 }, (_, index) => add(pending, index));
    for (const index of [0, 1, 1_100, 2_998]) take(pending, keys[index] as Key);
    const before = pending.next;
    add(pending, 'later');
    const taken: unknown[] = [];
    while (pending.takeOldest(before)) taken.push(pending.messageId);
    const left = Array.from({ length: 3_000 }, (_, index) => index);
    assert.deepEqual(
      taken,
      left.filter((index) => ![0, 1, 1_100, 2_998].includes(index)),
    );
    assert.equal(pending.count, 1);
    assert.equal(pending.takeOldest(pending.next), true);
    assert.equal(pending.messageId, 'later');
    assert.equal(pending.takeOldest(pending.next), false);
  });

  it('come as they were emitted by a moment', () => {
    const pending = new PendingMessages(0);
    for (let ms = 0; ms < 10; ms += 1) add(pending, `at ${ms}`, ms);
    const taken: unknown[] = [];
    while (pending.takeEmittedBy(3)) taken.push(pending.messageId);
    assert.deepEqual(taken, ['at 0', 'at 1', 'at 2', 'at 3']);
    assert.equal(pending.takeEmittedBy(3), false);
    assert.equal(pending.count, 6);
  });

  it('M2: of a million, nothing but a page is left when all are settled', () => {
    const pending = new PendingMessages(0);
    const keys: Key[] = [];
    for (let index = 0; index < 1_000_000; index += 1) keys.push(add(pending, index));
    assert.equal(pending.pageCount, 977);
    const random = createSeededRandom(1);
    for (let left = keys.length; left > 0; left -= 1) {
      const index = random.below(left);
      const key = keys[index] as Key;
      keys[index] = keys[left - 1] as Key;
      assert.ok(pending.take(key.low, key.high));
    }
    assert.equal(pending.count, 0);
    assert.ok(pending.pageCount <= 1);
    add(pending, 'more');
    assert.equal(pending.pageCount, 1);
  });

  it('M2: a straggler holds one page', () => {
    const pending = new PendingMessages(0);
    add(pending, 'straggler');
    for (let index = 0; index < 100_000; index += 1) take(pending, add(pending, index));
    assert.ok(pending.pageCount <= 2);
    assert.ok(pending.takeOldest(pending.next));
    assert.equal(pending.messageId, 'straggler');
  });

  it('do what a map would, whatever the order', () => {
    const random = createSeededRandom(3);
    const pending = new PendingMessages(-1, 2 ** 32 - 2_000);
    const model = new Map<string, { id: number; key: Key }>();
    for (let step = 0; step < 20_000; step += 1) {
      if (random.below(100) < 52) {
        const key = add(pending, step);
        model.set(`${key.high}:${key.low}`, { id: step, key });
      } else if (random.below(10) === 0) {
        const [oldest] = model;
        const isTaken = pending.takeOldest(pending.next);
        assert.equal(isTaken ? pending.messageId : undefined, oldest?.[1].id);
        if (oldest !== undefined) model.delete(oldest[0]);
      } else if (model.size > 0) {
        const [name, { id, key }] = [...model][random.below(Math.min(model.size, 50))] ?? [
          '',
          { id: 0, key: { low: 0, high: 0 } },
        ];
        assert.equal(take(pending, key), id);
        model.delete(name);
      }
      assert.equal(pending.count, model.size);
    }
  });
});

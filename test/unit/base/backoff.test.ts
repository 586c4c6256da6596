import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Backoff } from '../../../src/base/backoff.ts';
import { createSeededRandom, type Random } from '../../../src/base/random.ts';

const withoutJitter: Random = { ...createSeededRandom(1), below: () => 0 };

test('doubles up to the limit and begins anew after reset', () => {
  const backoff = new Backoff(withoutJitter, 100, 1000);
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6].map(() => backoff.next()),
    [100, 200, 400, 800, 1000, 1000],
  );
  backoff.reset();
  assert.equal(backoff.next(), 100);
});

test('takes off up to half, at random', () => {
  const backoff = new Backoff(createSeededRandom(7), 1000, 1000);
  const waits = Array.from({ length: 200 }, () => backoff.next());
  assert.ok(waits.every((waitMs) => waitMs > 500 && waitMs <= 1000));
  assert.ok(Math.max(...waits) - Math.min(...waits) > 400, 'the waits hardly differ');
});

test('a range that makes no sense is our own mistake', () => {
  assert.throws(() => new Backoff(withoutJitter, 0, 10), { name: 'AssertionError' });
  assert.throws(() => new Backoff(withoutJitter, 20, 10), { name: 'AssertionError' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryPolicy } from '../../../src/api/retry-policy.ts';
import { createSeededRandom, type Random } from '../../../src/base/random.ts';
import { Settings } from '../../../src/model/settings.ts';

/** Draws the same number, as a part of the range. */
const always = (part: number): Random => ({
  uint32: () => 0,
  below: (limit) => Math.floor(part * limit),
  bytes: (count) => new Uint8Array(count),
});

const OPTIONS = { limit: 3, backoffMs: 100, backoffMaxMs: 1_000 };

test('pauses double up to a limit, less up to a half', () => {
  const longest = new RetryPolicy(OPTIONS, always(0));
  const shortest = new RetryPolicy(OPTIONS, always(1));
  const attempts = [1, 2, 3, 4, 5, 50, 2_000];
  assert.deepEqual(
    attempts.map((attempt) => longest.delayMs(attempt)),
    [100, 200, 400, 800, 1_000, 1_000, 1_000],
  );
  assert.deepEqual(
    attempts.map((attempt) => shortest.delayMs(attempt)),
    [50, 100, 200, 400, 500, 500, 500],
  );
});

test('messages that failed together do not come back together', () => {
  const policy = new RetryPolicy(OPTIONS, createSeededRandom(7));
  const delays = new Set(Array.from({ length: 100 }, () => policy.delayMs(3)));
  assert.ok(delays.size > 50, `${delays.size} different pauses`);
  for (const delayMs of delays) assert.ok(delayMs > 200 && delayMs <= 400, String(delayMs));
});

test('a message is emitted once and as often again as the limit says', () => {
  const policy = new RetryPolicy(OPTIONS, always(0));
  assert.deepEqual(
    [1, 3, 4].map((attempts) => policy.isExhausted(attempts)),
    [false, false, true],
  );
  assert.equal(new RetryPolicy({ ...OPTIONS, limit: 0 }, always(0)).isExhausted(1), true);
});

test('a component has settings of its own', () => {
  const topology = new Map([
    ['topology.retry.limit', '1'],
    ['topology.retry.backoff.ms', '10'],
  ]);
  const component = new Map([['topology.retry.limit', '2']]);
  const policy = RetryPolicy.of(new Settings(topology, component), always(0));
  assert.equal(policy.isExhausted(2), false);
  assert.equal(policy.delayMs(1), 10);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSeededRandom, type Random } from '../../../src/base/random.ts';
import {
  backoffMs,
  decideRestart,
  type RestartPolicy,
} from '../../../src/supervision/restart-policy.ts';

const policy: RestartPolicy = {
  backoffMinMs: 100,
  backoffMaxMs: 1_000,
  attemptsMax: 4,
  healthyAfterMs: 60_000,
};

/** Takes nothing off a delay. */
const noJitter: Random = { ...createSeededRandom(1), below: () => 0 };

const delays: readonly [earlierDeaths: number, delayMs: number][] = [
  [0, 100],
  [1, 200],
  [2, 400],
  [3, 800],
];

for (const [earlierDeaths, delayMs] of delays) {
  test(`the delay doubles: ${delayMs} ms after ${earlierDeaths} earlier deaths (P1)`, () => {
    const decision = decideRestart(policy, { earlierDeaths, ranForMs: 5 }, noJitter);
    assert.deepEqual(decision, { kind: 'restart', deaths: earlierDeaths + 1, delayMs });
  });
}

test('the delay stays within its limits, whatever chance takes off', () => {
  const random = createSeededRandom(7);
  for (let attempt = 1; attempt < 2_000; attempt += 1) {
    const delayMs = backoffMs(policy, attempt, random);
    assert.ok(delayMs >= 100 && delayMs <= 1_000, `attempt ${attempt}: ${delayMs} ms`);
  }
  const late = Array.from({ length: 50 }, () => backoffMs(policy, 20, random));
  assert.ok(new Set(late).size > 10, 'processes that died together do not start together');
  assert.ok(Math.min(...late) >= 800, 'at most a fifth is taken off');
});

test('what cannot be started is tried for ever, with the longest pause (P4)', () => {
  const death = { earlierDeaths: 1_000, ranForMs: 0, couldNotStart: true };
  const decision = decideRestart(policy, death, noJitter);
  assert.deepEqual(decision, { kind: 'restart', deaths: 1_001, delayMs: 1_000 });
});

test('a healthy run wipes the slate (P2)', () => {
  const decision = decideRestart(policy, { earlierDeaths: 4, ranForMs: 60_000 }, noJitter);
  assert.deepEqual(decision, { kind: 'restart', deaths: 1, delayMs: 100 });
});

test('a run just short of healthy does not (P2)', () => {
  const decision = decideRestart(policy, { earlierDeaths: 1, ranForMs: 59_999 }, noJitter);
  assert.deepEqual(decision, { kind: 'restart', deaths: 2, delayMs: 200 });
});

test('after the last attempt the process is given up (P3)', () => {
  const decision = decideRestart(policy, { earlierDeaths: 4, ranForMs: 5 }, noJitter);
  assert.deepEqual(decision, { kind: 'give-up', deaths: 5 });
});

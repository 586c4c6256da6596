import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentError, userError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { patiently } from '../../../src/topology-master/patiently.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { settled } from '../../support/settled.ts';

const away = () => environmentError('STATE_UNAVAILABLE', 'away', { retryable: true });

/** Lets promises settle between two steps of the clock. */
async function pass(clock: ManualClock, ms: number): Promise<void> {
  await settled();
  for (let at = 0; at < ms; at += 50) {
    clock.advance(50);
    await settled();
  }
}

function patient(clock: ManualClock, attempt: () => Promise<string>, limitMs = 10_000) {
  return patiently(attempt, { clock, logger: silentLogger, what: 'read', limitMs });
}

test('what may pass is tried again, less and less often', async () => {
  const clock = new ManualClock();
  const attemptsAtMs: number[] = [];
  const result = patient(clock, async () => {
    attemptsAtMs.push(clock.now());
    if (attemptsAtMs.length < 7) throw away();
    return 'there';
  });
  await pass(clock, 8_000);
  assert.equal(await result, 'there');
  assert.deepEqual(attemptsAtMs, [0, 100, 300, 700, 1_500, 3_100, 5_100]);
});

test('when the time is over the last error is the answer', async () => {
  const clock = new ManualClock();
  let attempts = 0;
  const result = patient(
    clock,
    async () => {
      attempts += 1;
      throw away();
    },
    1_000,
  );
  const failed = assert.rejects(result, { code: 'STATE_UNAVAILABLE' });
  await pass(clock, 2_000);
  await failed;
  assert.equal(attempts, 4);
  assert.equal(clock.pendingTimers, 0);
});

test('what cannot pass is not tried again', async () => {
  const clock = new ManualClock();
  const attempt = () => Promise.reject(userError('INVALID_CONFIG', 'wrong'));
  await assert.rejects(patient(clock, attempt), { code: 'INVALID_CONFIG' });
});

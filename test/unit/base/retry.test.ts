import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentError, userError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom, type Random } from '../../../src/base/random.ts';
import { retry } from '../../../src/base/retry.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { settled } from '../../support/settled.ts';

const withoutJitter: Random = { ...createSeededRandom(1), below: () => 0 };
const away = environmentError('STATE_UNAVAILABLE', 'away', { retryable: true });

/** Retries on a clock of its own, and notes when each attempt is made. */
function retryOnClock(operation: (attempt: number) => string, limitMs = 10_000) {
  const clock = new ManualClock();
  const attemptsAtMs: number[] = [];
  const result = retry(
    async () => {
      attemptsAtMs.push(clock.now());
      return operation(attemptsAtMs.length);
    },
    { clock, random: withoutJitter, logger: silentLogger, what: 'read', limitMs },
  );
  /** Lets promises settle between two steps of the clock. */
  const pass = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += 50) {
      await settled();
      clock.advance(50);
    }
    await settled();
  };
  return { clock, attemptsAtMs, result, pass };
}

test('what may pass is tried again, less and less often', async () => {
  const { attemptsAtMs, result, pass } = retryOnClock((attempt) => {
    if (attempt < 7) throw away;
    return 'there';
  });
  await pass(8_000);
  assert.equal(await result, 'there');
  assert.deepEqual(attemptsAtMs, [0, 100, 300, 700, 1_500, 3_100, 5_100]);
});

test('when the time is over the last error is the answer', async () => {
  const { clock, attemptsAtMs, result, pass } = retryOnClock(() => {
    throw away;
  }, 1_000);
  const failed = assert.rejects(result, { code: 'STATE_UNAVAILABLE' });
  await pass(2_000);
  await failed;
  assert.deepEqual(attemptsAtMs, [0, 100, 300, 700]);
  assert.equal(clock.pendingTimers, 0);
});

test('what cannot pass is not tried again', async () => {
  const { clock, attemptsAtMs, result } = retryOnClock(() => {
    throw userError('INVALID_CONFIG', 'wrong');
  });
  await assert.rejects(result, { code: 'INVALID_CONFIG' });
  assert.deepEqual(attemptsAtMs, [0]);
  assert.equal(clock.pendingTimers, 0);
});

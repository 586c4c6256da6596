import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentError, hasCode, userError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { retry } from '../../../src/supervision/retry.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const away = environmentError('STATE_UNAVAILABLE', 'away', { retryable: true });

function attempt(operation: (attempts: number) => string, limitMs = 120_000) {
  const clock = new ManualClock();
  let attempts = 0;
  const state = { settled: false };
  const result = retry(
    async () => {
      attempts += 1;
      return operation(attempts);
    },
    { clock, random: createSeededRandom(1), logger: silentLogger, limitMs },
  ).finally(() => {
    state.settled = true;
  });
  const pass = async (ms: number): Promise<void> => {
    for (let past = 0; past < ms && !state.settled; past += 100) {
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
      clock.advance(100);
    }
  };
  return { result, pass, count: () => attempts };
}

test('what comes back after a minute is waited for, ever more patiently', async () => {
  let isBack = false;
  const { result, pass, count } = attempt(() => {
    if (!isBack) throw away;
    return 'value';
  });
  await pass(60_000);
  isBack = true;
  await pass(6_000);
  assert.equal(await result, 'value');
  assert.ok(count() > 10 && count() < 30, `${count()} attempts`);
});

test('what stays away is reported with its last error', async () => {
  const { result, pass } = attempt(() => {
    throw away;
  });
  const refused = assert.rejects(result, (error) => hasCode(error, 'STATE_UNAVAILABLE'));
  await pass(130_000);
  await refused;
});

test('an error that will not go away is not tried again', async () => {
  const { result, count } = attempt(() => {
    throw userError('INVALID_CONFIG', 'wrong');
  });
  await assert.rejects(result, (error) => hasCode(error, 'INVALID_CONFIG'));
  assert.equal(count(), 1);
});

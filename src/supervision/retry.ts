import { type Clock, delay } from '../base/clock.ts';
import { EngineError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { backoffMs } from './restart-policy.ts';

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** After this time the next failure is final. */
  readonly limitMs: number;
}

const BACKOFF = { backoffMinMs: 100, backoffMaxMs: 5_000 };

/**
 * Repeats an operation while its error says that the same may succeed later.
 *
 * @throws the last error once the time is over, and every error that is not retryable at once.
 */
export async function retry<Result>(
  operation: () => Promise<Result>,
  { clock, random, logger, limitMs }: RetryOptions,
): Promise<Result> {
  const deadlineMs = clock.now() + limitMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await operation();
    } catch (error) {
      const canRetry = error instanceof EngineError && error.retryable;
      if (!canRetry || clock.now() >= deadlineMs) throw error;
      const pauseMs = backoffMs(BACKOFF, attempt, random);
      logger.warn('trying again', { attempt, pauseMs, reason: messageOf(error) });
      await delay(clock, pauseMs);
    }
  }
}

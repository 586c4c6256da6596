import { Backoff } from './backoff.ts';
import { type Clock, delay } from './clock.ts';
import { EngineError, messageOf } from './errors.ts';
import type { Logger } from './logger.ts';
import type { Random } from './random.ts';

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Completes "cannot …". */
  readonly what: string;
  /** No attempt begins later than this after the first. */
  readonly limitMs: number;
}

/** The first pause is short because a neighbour that is just starting is the usual reason. */
const PAUSE_MIN_MS = 100;
/** Whoever waits is a process that is not up yet: it should see soon that the other one is. */
const PAUSE_MAX_MS = 2_000;

/**
 * Repeats an operation, with growing pauses, while its error says that it may succeed later.
 *
 * @throws the last error when the time is over, or the first one that is not retryable.
 */
export async function retry<Result>(
  operation: () => Promise<Result>,
  { clock, random, logger, what, limitMs }: RetryOptions,
): Promise<Result> {
  const backoff = new Backoff(random, PAUSE_MIN_MS, PAUSE_MAX_MS);
  const deadlineMs = clock.now() + limitMs;
  for (;;) {
    try {
      return await operation();
    } catch (error) {
      const mayPass = error instanceof EngineError && error.retryable;
      const pauseMs = backoff.next();
      if (!mayPass || clock.now() + pauseMs > deadlineMs) throw error;
      logger.warn(`cannot ${what}, trying again: ${messageOf(error)}`, { pauseMs });
      await delay(clock, pauseMs);
    }
  }
}

import { type Clock, delay } from '../base/clock.ts';
import { EngineError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';

export interface PatienceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Completes "cannot …". */
  readonly what: string;
  /** No attempt begins later than this after the first. */
  readonly limitMs: number;
}

/** The first pause is short because a neighbour that is just starting is the usual reason. */
const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 2_000;

/**
 * Repeats what may succeed later, with growing pauses.
 *
 * @throws the last error when the time is over, or the first one that is not retryable.
 */
export async function patiently<Result>(
  attempt: () => Promise<Result>,
  { clock, logger, what, limitMs }: PatienceOptions,
): Promise<Result> {
  const deadlineMs = clock.now() + limitMs;
  let pauseMs = PAUSE_MIN_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const mayPass = error instanceof EngineError && error.retryable;
      if (!mayPass || clock.now() + pauseMs > deadlineMs) throw error;
      logger.warn(`cannot ${what}, trying again: ${messageOf(error)}`, { pauseMs });
    }
    await delay(clock, pauseMs);
    pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
  }
}

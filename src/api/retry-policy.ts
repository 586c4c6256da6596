import type { Random } from '../base/random.ts';
import type { Settings } from '../model/settings.ts';

/** The grain of the jitter; finer than any difference that matters. */
const JITTER_STEPS = 1024;

export interface RetryPolicyOptions {
  /** How often a message is emitted again; 0 for never. */
  readonly limit: number;
  /** Pause before the first retry; each further one is twice as long. */
  readonly backoffMs: number;
  /** The longest pause. */
  readonly backoffMaxMs: number;
}

/**
 * Whether and when a message that has failed is emitted again. It keeps nothing about messages:
 * what it says depends on how often one has been emitted, and on chance.
 *
 * The pause doubles from one attempt to the next up to a limit, less up to half of it at random, so
 * that messages that failed together do not come back together.
 */
export class RetryPolicy {
  readonly #options: RetryPolicyOptions;
  readonly #random: Random;

  constructor(options: RetryPolicyOptions, random: Random) {
    this.#options = options;
    this.#random = random;
  }

  /** As the settings `topology.retry.*` of a component say. */
  static of(settings: Settings, random: Random): RetryPolicy {
    const options = {
      limit: settings.get('topology.retry.limit'),
      backoffMs: settings.get('topology.retry.backoff.ms'),
      backoffMaxMs: settings.get('topology.retry.backoff.max.ms'),
    };
    return new RetryPolicy(options, random);
  }

  /** Whether a message that has been emitted so many times, 1 or more, is emitted no more. */
  isExhausted(attempts: number): boolean {
    return attempts > this.#options.limit;
  }

  /** Milliseconds until a message that has been emitted so many times, 1 or more, comes again. */
  delayMs(attempts: number): number {
    const { backoffMs, backoffMaxMs } = this.#options;
    const longestMs = Math.min(backoffMs * 2 ** (attempts - 1), backoffMaxMs);
    return longestMs - (longestMs / 2) * (this.#random.below(JITTER_STEPS) / JITTER_STEPS);
  }
}

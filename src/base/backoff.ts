import { assert } from './assert.ts';
import type { Random } from './random.ts';

/** The grain of the jitter; finer than any difference that matters. */
const JITTER_STEPS = 1024;

/**
 * Growing waits between attempts: each is twice the one before, up to a limit, less up to half of
 * it at random, so that peers that failed together do not come back together.
 */
export class Backoff {
  readonly #random: Random;
  readonly #minMs: number;
  readonly #maxMs: number;
  #nextMs: number;

  constructor(random: Random, minMs: number, maxMs: number) {
    assert(minMs > 0 && minMs <= maxMs, 'a back-off needs 0 < min <= max');
    this.#random = random;
    this.#minMs = minMs;
    this.#maxMs = maxMs;
    this.#nextMs = minMs;
  }

  /** How long to wait before the next attempt. */
  next(): number {
    const waitMs = this.#nextMs;
    this.#nextMs = Math.min(waitMs * 2, this.#maxMs);
    return waitMs - (waitMs / 2) * (this.#random.below(JITTER_STEPS) / JITTER_STEPS);
  }

  /** The last attempt succeeded: the next wait is the shortest again. */
  reset(): void {
    this.#nextMs = this.#minMs;
  }
}

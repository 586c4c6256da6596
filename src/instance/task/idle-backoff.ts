import type { Clock, Timer } from '../../base/clock.ts';

/**
 * The wait of a spout that had nothing to emit (ruling R16): nothing at first, then 1 ms and twice
 * as long each time up to a limit, so that an idle topology costs next to nothing and a busy one
 * has no added latency.
 */
export class IdleBackoff {
  readonly #clock: Clock;
  readonly #maxMs: number;
  #nextMs = 0;
  #wakeUp: (() => void) | undefined;
  #timer: Timer | undefined;
  #woken = false;

  constructor(clock: Clock, maxMs: number) {
    this.#clock = clock;
    this.#maxMs = maxMs;
  }

  /** Something was emitted: the next wait starts from nothing again. */
  reset(): void {
    this.#nextMs = 0;
  }

  /** Resolves after the wait, or when somebody calls `wake`. */
  wait(): Promise<void> {
    if (this.#woken) {
      this.#woken = false;
      return new Promise((resolve) => {
        this.#clock.soon(resolve);
      });
    }
    const waitMs = this.#nextMs;
    this.#nextMs = Math.min(this.#maxMs, waitMs === 0 ? 1 : waitMs * 2);
    return new Promise((resolve) => {
      this.#wakeUp = resolve;
      this.#timer =
        waitMs === 0
          ? this.#clock.soon(() => this.wake())
          : this.#clock.after(waitMs, () => this.wake());
    });
  }

  /** Ends the wait, or keeps the next one from happening. */
  wake(): void {
    const wakeUp = this.#wakeUp;
    if (wakeUp === undefined) {
      this.#woken = true;
      return;
    }
    this.#timer?.cancel();
    this.#wakeUp = undefined;
    this.#timer = undefined;
    wakeUp();
  }
}

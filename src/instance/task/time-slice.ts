import type { Clock } from '../../base/clock.ts';

/** How long user code may run before timers, promises and control messages get their turn. */
const SLICE_MS = 10;
/** Reading the clock costs as much as a small tuple does, so quick steps are timed together. */
const STEPS_PER_LOOK_MAX = 64;
/** So many steps as take about this long may go by between two looks at the clock. */
const LOOK_MS = 1;

/**
 * Tells a runner when to give way to the event loop.
 *
 * S1. The clock is read after each step while steps are slow, and once in STEPS_PER_LOOK_MAX while
 *     they are quick; so a slice is too long by one slow step, as a rule.
 */
export class TimeSlice {
  readonly #clock: Clock;
  #startedAt = 0;
  #lookedAt = 0;
  #stepsPerLook = 1;
  #stepsLeft = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(): void {
    this.#startedAt = this.#clock.now();
    this.#lookedAt = this.#startedAt;
    this.#stepsLeft = this.#stepsPerLook;
  }

  /** Counts one step; true when the slice is over. */
  isOver(): boolean {
    this.#stepsLeft -= 1;
    return this.#stepsLeft === 0 && this.#look();
  }

  /** Resolves when the events at hand have been handled. */
  giveWay(): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.soon(resolve);
    });
  }

  #look(): boolean {
    const now = this.#clock.now();
    const isQuick = now - this.#lookedAt < LOOK_MS;
    this.#stepsPerLook = isQuick ? Math.min(this.#stepsPerLook * 2, STEPS_PER_LOOK_MAX) : 1;
    this.#stepsLeft = this.#stepsPerLook;
    this.#lookedAt = now;
    return now - this.#startedAt >= SLICE_MS;
  }
}

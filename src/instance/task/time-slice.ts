import type { Clock } from '../../base/clock.ts';

/** How long user code may run before timers, promises and control messages get their turn. */
const SLICE_MS = 10;
/** Reading the clock costs as much as a small tuple does; so it is read once in so many. */
const STEPS_PER_LOOK = 16;

/** Tells a runner when to give way to the event loop. */
export class TimeSlice {
  readonly #clock: Clock;
  #endsAt = 0;
  #stepsLeft = STEPS_PER_LOOK;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(): void {
    this.#endsAt = this.#clock.now() + SLICE_MS;
    this.#stepsLeft = STEPS_PER_LOOK;
  }

  /** Counts one step; true when the slice is over. */
  isOver(): boolean {
    this.#stepsLeft -= 1;
    if (this.#stepsLeft > 0) return false;
    this.#stepsLeft = STEPS_PER_LOOK;
    return this.#clock.now() >= this.#endsAt;
  }

  /** Resolves when the events at hand have been handled. */
  giveWay(): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.soon(resolve);
    });
  }
}

/*
  Simulated time is counted in whole microseconds, which are exact as numbers for 285 years, so that
  sums of them never depend on their order. The ports speak milliseconds.
*/

export const MICROSECONDS_PER_MILLISECOND = 1000;
export const MICROSECONDS_PER_SECOND = 1_000_000;

/** Rounded up: nothing happens before its time. */
export function microseconds(ms: number): number {
  return ms > 0 ? Math.ceil(ms * MICROSECONDS_PER_MILLISECOND) : 0;
}

/** Somewhere in 2023; only that it is the same in every run matters. */
const WALL_START_MS = 1_700_000_000_000;

/** The wall clock of a machine, which its administrator, or a fault, may set. */
export class WallClock {
  #offsetMs: number;

  constructor(startMs: number = WALL_START_MS) {
    this.#offsetMs = startMs;
  }

  /** Sets the clock forwards, or backwards by a negative amount. */
  step(byMs: number): void {
    this.#offsetMs += byMs;
  }

  /** Whole milliseconds since the epoch, as machines tell them. */
  at(nowUs: number): number {
    return Math.floor(this.#offsetMs + nowUs / MICROSECONDS_PER_MILLISECOND);
  }
}

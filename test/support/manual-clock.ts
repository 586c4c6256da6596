import { assert } from '../../src/base/assert.ts';
import type { Clock, Timer } from '../../src/base/clock.ts';

/** More than any test has a reason for: a `soon` that always asks for another would never end. */
const SOON_ROUNDS_MAX = 100_000;

interface PendingTimer {
  readonly atMs: number;
  readonly call: () => void;
  /** Undefined for a timer that fires once. */
  readonly periodMs: number | undefined;
}

/**
 * Time that moves only when the test says so.
 *
 * M1. Timers fire in the order of their time; those of one moment in the order of their making.
 * M2. `soon` calls run before time moves and after every timer, as immediates do.
 */
export class ManualClock implements Clock {
  #nowMs = 0;
  #wallStartMs: number;
  readonly #timers = new Map<symbol, PendingTimer>();
  readonly #soon = new Map<symbol, () => void>();

  constructor(wallStartMs = 1_700_000_000_000) {
    this.#wallStartMs = wallStartMs;
  }

  now(): number {
    return this.#nowMs;
  }

  wallNow(): number {
    return this.#wallStartMs + this.#nowMs;
  }

  after(delayMs: number, call: () => void): Timer {
    return this.#schedule({ atMs: this.#nowMs + delayMs, call, periodMs: undefined });
  }

  every(periodMs: number, call: () => void): Timer {
    assert(periodMs > 0, 'a period is longer than 0 ms');
    return this.#schedule({ atMs: this.#nowMs + periodMs, call, periodMs });
  }

  soon(call: () => void): Timer {
    const key = Symbol('soon');
    this.#soon.set(key, call);
    return { cancel: () => void this.#soon.delete(key) };
  }

  /** Sets the wall clock forwards, or backwards by a negative amount. */
  stepWall(byMs: number): void {
    this.#wallStartMs += byMs;
  }

  /** How many timers are waiting: 0 once everything has been closed. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Moves time on and makes every call that has become due. */
  advance(ms: number): void {
    const targetMs = this.#nowMs + ms;
    this.runSoon();
    for (;;) {
      const due = this.#earliest(targetMs);
      if (due === undefined) break;
      const [key, timer] = due;
      this.#nowMs = timer.atMs;
      this.#timers.delete(key);
      if (timer.periodMs !== undefined) {
        this.#timers.set(key, { ...timer, atMs: timer.atMs + timer.periodMs });
      }
      timer.call();
      this.runSoon();
    }
    this.#nowMs = targetMs;
  }

  /** Makes the `soon` calls that wait, and those that they ask for; time stands still. */
  runSoon(): void {
    for (let round = 0; this.#soon.size > 0; round += 1) {
      assert(round < SOON_ROUNDS_MAX, 'soon calls keep asking for further ones');
      const calls = [...this.#soon];
      for (const [key, call] of calls) {
        // An earlier call of this round may have cancelled it.
        if (this.#soon.delete(key)) call();
      }
    }
  }

  #schedule(timer: PendingTimer): Timer {
    const key = Symbol('timer');
    this.#timers.set(key, timer);
    return { cancel: () => void this.#timers.delete(key) };
  }

  /** The map keeps the order of making, and only a strictly earlier timer replaces one (M1). */
  #earliest(targetMs: number): [symbol, PendingTimer] | undefined {
    let earliest: [symbol, PendingTimer] | undefined;
    for (const entry of this.#timers) {
      const { atMs } = entry[1];
      if (atMs <= targetMs && (earliest === undefined || atMs < earliest[1].atMs)) earliest = entry;
    }
    return earliest;
  }
}

import type { Clock, Timer } from '../../base/clock.ts';
import type { DueEvent, DueEvents } from './due-events.ts';

/**
 * The timers that a component has asked for. When one fires, its call becomes due, and runs between
 * two calls of the component; an error that it throws ends the instance.
 *
 * M1. After `close` no call is made, and no timer is left.
 */
export class ComponentTimers {
  readonly #clock: Clock;
  readonly #due: DueEvents;
  readonly #timers = new Set<Timer>();
  #isClosed = false;

  constructor(clock: Clock, due: DueEvents) {
    this.#clock = clock;
    this.#due = due;
  }

  every(periodMs: number, call: () => unknown): Timer {
    return this.#start({ callback: 'timer', run: call }, (fire) =>
      this.#clock.every(periodMs, fire),
    );
  }

  after(delayMs: number, call: () => unknown): Timer {
    const event: DueEvent = {
      callback: 'timer',
      run: () => {
        timer.cancel(); // It has fired, and is to be forgotten.
        return call();
      },
    };
    const timer = this.#start(event, (fire) => this.#clock.after(delayMs, fire));
    return timer;
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) timer.cancel();
  }

  #start(event: DueEvent, begin: (fire: () => void) => Timer): Timer {
    if (this.#isClosed) return { cancel() {} };
    const clockTimer = begin(() => this.#due.add(event));
    const timer = {
      cancel: () => {
        clockTimer.cancel();
        this.#due.remove(event);
        this.#timers.delete(timer);
      },
    };
    this.#timers.add(timer);
    return timer;
  }
}

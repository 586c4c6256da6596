import { assert } from '../../base/assert.ts';
import type { Clock, Timer } from '../../base/clock.ts';

/** What a clock needs of its thread. */
export interface ClockThread {
  post(delayMs: number, call: () => void): Timer;
  readNowMs(): number;
  readWallMs(): number;
}

/** The clock of a simulated thread: its timers are events of the thread. */
export class SimulatedClock implements Clock {
  readonly #thread: ClockThread;

  constructor(thread: ClockThread) {
    this.#thread = thread;
  }

  now(): number {
    return this.#thread.readNowMs();
  }

  wallNow(): number {
    return this.#thread.readWallMs();
  }

  after(delayMs: number, call: () => void): Timer {
    return this.#thread.post(delayMs, call);
  }

  /** As the platform's intervals, it counts from each call: a thread that was busy skips some. */
  every(periodMs: number, call: () => void): Timer {
    assert(periodMs > 0, 'a period is longer than 0 ms');
    const fire = (): void => {
      timer = this.#thread.post(periodMs, fire);
      call();
    };
    let timer = this.#thread.post(periodMs, fire);
    return { cancel: () => timer.cancel() };
  }

  soon(call: () => void): Timer {
    return this.#thread.post(0, call);
  }
}

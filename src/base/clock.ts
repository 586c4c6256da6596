/*
  Time as the engine sees it. Everything that waits, measures or stamps gets a Clock handed in, so
  that tests and the simulator decide what time it is. This is the only file with the platform's
  timers and dates.
*/

/** A pending call. */
export interface Timer {
  /** Idempotent; after it returns the call does not happen any more. */
  cancel(): void;
}

export interface Clock {
  /** Monotonic milliseconds from an arbitrary start; never steps back. */
  now(): number;
  /** Milliseconds since the epoch by the machine's wall clock; may step both ways. */
  wallNow(): number;
  /** Calls once, not before `delayMs` milliseconds from now. */
  after(delayMs: number, call: () => void): Timer;
  /** Calls every `periodMs` milliseconds until cancelled. */
  every(periodMs: number, call: () => void): Timer;
  /** Calls once, after the events that are already at hand; costs no time. */
  soon(call: () => void): Timer;
}

/** The machine's clock. Its timers keep the process alive until they are cancelled or done. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  after(delayMs, call) {
    const timer = setTimeout(call, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
  every(periodMs, call) {
    const timer = setInterval(call, periodMs);
    return { cancel: () => clearInterval(timer) };
  },
  soon(call) {
    const immediate = setImmediate(call);
    return { cancel: () => clearImmediate(immediate) };
  },
};

/**
 * Calls every `periodMs` milliseconds for as long as something else keeps the process alive: for
 * what a process does beside its work, and must not be mistaken for it.
 */
export function everyInBackground(periodMs: number, call: () => void): Timer {
  const timer = setInterval(call, periodMs);
  timer.unref();
  return { cancel: () => clearInterval(timer) };
}

/** Resolves after `delayMs` milliseconds of the given clock. */
export function delay(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve);
  });
}

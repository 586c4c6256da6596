import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock, Timer } from '../base/clock.ts';

/*
  setTimeout and its kin on a simulated clock, with the behaviour of Node's: what they return, what
  they make of odd delays, and that what a callback throws is an uncaught exception.
*/

/** As Node: anything else is taken for 1. */
const DELAY_MS_MAX = 0x7fff_ffff;

type Callback = (...args: unknown[]) => unknown;

/** What `setTimeout`, `setInterval` and `setImmediate` return. */
export class SimulatedTimer {
  readonly #start: () => Timer;
  #timer: Timer | undefined;
  #hasRef = true;

  constructor(start: (isOver: () => void) => Timer) {
    this.#start = () => start(() => (this.#timer = undefined));
    this.#timer = this.#start();
  }

  /** A simulation does not end because nothing but this timer is left, so it changes nothing. */
  ref(): this {
    this.#hasRef = true;
    return this;
  }

  unref(): this {
    this.#hasRef = false;
    return this;
  }

  hasRef(): boolean {
    return this.#hasRef;
  }

  refresh(): this {
    if (this.#timer === undefined) return this;
    this.#timer.cancel();
    this.#timer = this.#start();
    return this;
  }

  close(): this {
    this.#timer?.cancel();
    this.#timer = undefined;
    return this;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

export function simulatedTimeout(
  clock: Clock,
  callback: Callback,
  delayMs: unknown,
  args: readonly unknown[],
): SimulatedTimer {
  const call = inItsContext(callback, args);
  return new SimulatedTimer((isOver) =>
    clock.after(wholeDelay(delayMs), () => {
      isOver();
      call();
    }),
  );
}

export function simulatedInterval(
  clock: Clock,
  callback: Callback,
  periodMs: unknown,
  args: readonly unknown[],
): SimulatedTimer {
  const call = inItsContext(callback, args);
  return new SimulatedTimer(() => clock.every(wholeDelay(periodMs), call));
}

export function simulatedImmediate(
  clock: Clock,
  callback: Callback,
  args: readonly unknown[],
): SimulatedTimer {
  const call = inItsContext(callback, args);
  return new SimulatedTimer((isOver) =>
    clock.soon(() => {
      isOver();
      call();
    }),
  );
}

interface WaitOptions {
  readonly signal?: AbortSignal;
}

/** `setTimeout` of `node:timers/promises`. */
export function simulatedDelay<Value>(
  clock: Clock,
  delayMs: unknown,
  value?: Value,
  options?: WaitOptions,
): Promise<Value | undefined> {
  return wait((call) => clock.after(wholeDelay(delayMs), call), value, options);
}

/** `setImmediate` of `node:timers/promises`. */
export function simulatedTurn<Value>(
  clock: Clock,
  value?: Value,
  options?: WaitOptions,
): Promise<Value | undefined> {
  return wait((call) => clock.soon(call), value, options);
}

/** `setInterval` of `node:timers/promises`. */
export async function* simulatedTicks<Value>(
  clock: Clock,
  periodMs: unknown,
  value?: Value,
  options?: WaitOptions,
): AsyncGenerator<Value | undefined> {
  let dueMs = clock.now();
  for (;;) {
    dueMs += wholeDelay(periodMs);
    yield await simulatedDelay(clock, Math.max(1, dueMs - clock.now()), value, options);
  }
}

function wait<Value>(
  start: (call: () => void) => Timer,
  value: Value | undefined,
  { signal }: WaitOptions = {},
): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(aborted(signal));
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(aborted(signal));
    };
    const timer = start(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve(value);
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function aborted(signal: AbortSignal | undefined): Error {
  const error = new Error('The operation was aborted', { cause: signal?.reason });
  error.name = 'AbortError';
  return Object.assign(error, { code: 'ABORT_ERR' });
}

/** Callbacks run where they were given: in the same world, with the user's own async context. */
export function inItsContext(callback: Callback, args: readonly unknown[]): () => void {
  if (typeof callback !== 'function') {
    throw Object.assign(new TypeError('The "callback" argument must be of type function.'), {
      code: 'ERR_INVALID_ARG_TYPE',
    });
  }
  const inContext = AsyncLocalStorage.snapshot();
  return () => void inContext(callback, ...args);
}

function wholeDelay(delayMs: unknown): number {
  const ms = Number(delayMs);
  return ms >= 1 && ms <= DELAY_MS_MAX ? Math.trunc(ms) : 1;
}

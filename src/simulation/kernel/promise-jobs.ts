/*
  How promise jobs are run to their end between two simulated events.

  J1. After `drain` no promise job and no `process.nextTick` call is left, and rejections that
      nobody handles have been reported. The platform does just that between two timers; the
      function behind it is reachable, and costs 40 ns when there is nothing to do. A round of the
      event loop (`nextRound`) has the same effect, and costs 1.5 us (bench/simulation-kernel.ts).
  J2. `drain` works only outside of promise jobs: in a callback of `nextRound`, for one.
  J3. Both are taken when this file is loaded: timers that a test replaces later are not used.
*/

/** Node's own name for the function, which its documentation leaves out. */
const TICK_CALLBACK = '_tickCallback';

/** Undefined where the platform has no such thing any more. */
export const drain = (process as { readonly [TICK_CALLBACK]?: () => void })[TICK_CALLBACK];

// oxlint-disable-next-line no-restricted-globals -- The real event loop has its turn in between.
export const nextRound: (call: () => void) => void = setImmediate;

/** What a promise job left behind. */
export interface StrayErrors {
  readonly onException: (error: unknown) => void;
  readonly onRejection: (error: unknown) => void;
}

type Listener = Parameters<typeof process.addListener>[1];

const STRAY_EVENTS = ['uncaughtException', 'unhandledRejection'] as const;

/**
 * While it is on, stray errors of the real process come here and to nobody else: a test runner, for
 * one, would take the planned failure of a simulated process for the end of the test. To be on only
 * while simulated code runs, so that it takes nothing that is not its own.
 */
export class StrayErrorGuard {
  readonly #own: readonly ((error: unknown) => void)[];
  #others: readonly (readonly Listener[])[] | undefined;

  constructor({ onException, onRejection }: StrayErrors) {
    this.#own = [onException, onRejection];
    this.#others = undefined;
  }

  on(): void {
    if (this.#others !== undefined) return;
    this.#others = STRAY_EVENTS.map((name) => process.rawListeners(name) as Listener[]);
    STRAY_EVENTS.forEach((name, index) => {
      process.removeAllListeners(name);
      process.on(name, this.#own[index] as Listener);
    });
  }

  off(): void {
    const others = this.#others;
    if (others === undefined) return;
    this.#others = undefined;
    STRAY_EVENTS.forEach((name, index) => {
      process.removeListener(name, this.#own[index] as Listener);
      for (const listener of others[index] ?? []) process.on(name, listener);
    });
  }
}

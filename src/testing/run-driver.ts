import { EngineError } from '../base/errors.ts';
import type { Kernel } from '../simulation/kernel/kernel.ts';
import { useSimulatedGlobals } from './simulated-globals.ts';

/** Ample for any wait that a test has a reason for; simulated, so that it takes no time. */
const WITHIN_MS = 10 * 60_000;
/** A run of so many events is a loop that never ends; it takes some seconds to get there. */
const EVENTS_MAX = 5_000_000;

export interface ReachOptions {
  /** What is missing, for the error. */
  readonly waitsFor: () => string;
  /** Simulated milliseconds; ten minutes unless set. */
  readonly withinMs?: number;
}

/**
 * Moves a simulation on for a test.
 *
 * D1. One call after the other, in the order in which they were made, whether or not the test
 *     awaits them one by one.
 * D2. The stand-ins of the platform are in place only while events run.
 */
export class RunDriver {
  readonly #kernel: Kernel;
  #last: Promise<unknown> = Promise.resolve();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** @throws EngineError RUN_NOT_FINISHED when the condition does not come to hold. */
  reach(until: () => boolean, { waitsFor, withinMs = WITHIN_MS }: ReachOptions): Promise<void> {
    return this.#inTurn(async () => {
      const limits = { simulatedMsMax: withinMs, eventsMax: EVENTS_MAX };
      const end = await this.#kernel.run(until, limits);
      if (end === 'reached' || until()) return;
      const after = {
        time: `after ${withinMs} simulated ms`,
        events: `after ${EVENTS_MAX} events`,
        idle: 'and nothing is left that could happen',
      }[end];
      throw notFinished(`${waitsFor()}, ${after}`);
    });
  }

  /** Moves simulated time on by so much, and runs what happens meanwhile. */
  advance(ms: number): Promise<void> {
    return this.#inTurn(async () => {
      const end = await this.#kernel.advance(ms, EVENTS_MAX);
      if (end !== 'events') return;
      throw notFinished(`${ms} ms are not over after ${EVENTS_MAX} events: some code never waits`);
    });
  }

  #inTurn<Result>(call: () => Promise<Result>): Promise<Result> {
    const turn = async (): Promise<Result> => {
      const standIns = useSimulatedGlobals();
      try {
        return await call();
      } finally {
        standIns[Symbol.dispose]();
      }
    };
    const result = this.#last.then(turn);
    this.#last = result.catch(() => {}); // The caller has the error.
    return result;
  }
}

/** The error for what does not come to pass. */
export function notFinished(text: string): EngineError {
  return new EngineError('RUN_NOT_FINISHED', text, { domain: 'user' });
}

import type { Callback } from '../task-status.ts';
import { type EngineError, hasCode } from '../../base/errors.ts';
import type { UserCalls } from './user-calls.ts';

/** Something other than its work that a component is called for: a tick, a timer, a new plan. */
export interface DueEvent {
  readonly callback: Callback;
  readonly run: () => unknown;
  /** Takes a failure that the component survives; without it every failure ends the instance. */
  readonly onFailure?: (failure: EngineError) => void;
}

/**
 * What is to be called between two calls of the component, in the order in which it became due.
 *
 * E1. An event waits once, however often it becomes due meanwhile: a component that is slower than
 *     its ticks does not fall behind them (row S10).
 * E2. Whoever runs them makes one round at a time, between which the component's own work goes on.
 */
export class DueEvents {
  readonly #waiting = new Set<DueEvent>();
  readonly #wake: () => void;
  #onArrival: (() => void) | undefined;

  /** `wake` ends the runner's wait for other things. */
  constructor(wake: () => void) {
    this.#wake = wake;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  add(event: DueEvent): void {
    this.#waiting.add(event);
    this.#onArrival?.();
    this.#onArrival = undefined;
    this.#wake();
  }

  remove(event: DueEvent): void {
    this.#waiting.delete(event);
  }

  /** Resolves when there is one; for one waiter at a time. */
  arrival(): Promise<void> {
    if (!this.isEmpty) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onArrival = resolve;
    });
  }

  /** Runs those that wait now, one after the other, while `goesOn` says so. */
  async runRound(calls: UserCalls, goesOn: () => boolean): Promise<void> {
    for (let left = this.#waiting.size; left > 0 && goesOn(); left -= 1) {
      const [event] = this.#waiting;
      if (event === undefined) return;
      // Before it runs: it may become due again while it does.
      this.#waiting.delete(event);
      await runEvent(calls, event);
    }
  }
}

async function runEvent(calls: UserCalls, event: DueEvent): Promise<void> {
  try {
    await calls.call(event.callback, event.run);
  } catch (error) {
    // The ring was closed under `emit`: the instance is stopping, the event is not to blame.
    if (event.onFailure === undefined || hasCode(error, 'CONNECTION_CLOSED')) throw error;
    // What `call` throws is an EngineError that names the component.
    event.onFailure(error as EngineError);
  }
}

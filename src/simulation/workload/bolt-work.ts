import type { AnyTuple } from '../../api/tuple.ts';
import { delay } from '../../base/clock.ts';
import { hasCode } from '../../base/errors.ts';
import { unreachable } from '../../base/assert.ts';
import { CallsUnderWay } from './calls-under-way.ts';
import type { BoltDescription } from './workload-description.ts';
import { WorkloadTask, type WorkloadTaskOptions } from './workload-task.ts';

const DIFFERENT_DELAYS = 5;

/** What comes of a tuple that is executed. */
export interface Product {
  /** What emits are anchored to. */
  readonly anchors: readonly AnyTuple[];
  /** Called when all is emitted. */
  readonly onProduced: () => void;
}

/** What a bolt of a workload does with a tuple, whichever base class it has. */
export class BoltWork {
  readonly task: WorkloadTask;
  readonly #description: BoltDescription;
  readonly #calls: CallsUnderWay;
  #pending = 0;
  #onSettled: (() => void) | undefined;

  constructor(description: BoltDescription, options: WorkloadTaskOptions) {
    this.task = new WorkloadTask(options);
    this.#description = description;
    this.#calls = new CallsUnderWay(description, options.ledger);
  }

  execute(tuple: AnyTuple): void | Promise<void> {
    this.take(tuple);
    return this.work(tuple, { anchors: [tuple], onProduced: () => {} });
  }

  /** The first part of `execute`: what is to go wrong in this call does. */
  take(tuple: AnyTuple): void {
    const { base, workMs } = this.#description;
    this.task.execute(tuple);
    this.task.spend(workMs);
    this.task.begin({ isSurvived: base === 'basic' });
  }

  /** The second part: emits, now or later, and then says so. */
  work(tuple: AnyTuple, product: Product): void | Promise<void> {
    const { style } = this.#description;
    switch (style.kind) {
      case 'sync':
        this.#produce(product);
        return undefined;
      case 'async':
        return this.#produceLater(tuple, this.#delayOf(tuple, style.afterMs), product);
      case 'detached':
        this.later(style.afterMs, () => this.#produce(product));
        return undefined;
      default:
        return unreachable(style);
    }
  }

  /** A timer does it; nobody waits for it but `finish`. */
  later(afterMs: number, call: () => void): void {
    this.#pending += 1;
    this.task.after(afterMs, () => {
      this.#pending -= 1;
      try {
        call();
      } catch (error) {
        // The instance is stopping, which a timer cannot know.
        if (!hasCode(error, 'CONNECTION_CLOSED')) throw error;
      }
      if (this.#pending === 0) this.#onSettled?.();
    });
  }

  get isDetached(): boolean {
    return this.#description.style.kind === 'detached';
  }

  /** What descends from these tuples. */
  emitFor(anchors: readonly AnyTuple[]): void {
    this.task.emitToAll(this.#description.fanOut, anchors);
  }

  tick(): void {
    this.task.ledger.count('tick', this.task.life.task);
    this.#calls.tick(this.task.life.finishCalls > 0);
  }

  async finish(): Promise<void> {
    this.#calls.finish();
    this.task.beginFinish();
    if (this.#pending > 0) {
      await new Promise<void>((resolve) => {
        this.#onSettled = resolve;
      });
    }
    this.task.emitToAll(this.#description.emitsInFinish);
    this.task.end();
  }

  cleanup(): void {
    this.task.cancelTimers();
  }

  #produce({ anchors, onProduced }: Product): void {
    this.emitFor(anchors);
    onProduced();
  }

  async #produceLater(tuple: AnyTuple, afterMs: number, product: Product): Promise<void> {
    const call = this.#calls.begin(tuple);
    if (afterMs === 0) await Promise.resolve();
    else await delay(this.task.context.clock, afterMs);
    this.#calls.end(call);
    this.#produce(product);
  }

  /** Calls that run beside each other settle in another order than they began in. */
  #delayOf(tuple: AnyTuple, afterMs: number): number {
    if (this.#description.concurrency === undefined) return afterMs;
    return (afterMs * (1 + (Number(tuple.values[0]) % DIFFERENT_DELAYS))) / DIFFERENT_DELAYS;
  }
}

import type { TaskId } from '../../base/ids.ts';

/** One component object of one task (B2 of ledger.ts). */
export interface Life {
  readonly index: number;
  readonly task: TaskId;
  readonly component: string;
  readonly taskIndex: number;
  readonly openedAtMs: number;
  /** Calls of `finish` that have begun. */
  finishCalls: number;
  /** How many calls of any `execute` there had been when the first `finish` began. */
  executesBeforeFinish: number | undefined;
  /** `finish`, or a spout's `endOfInput`, is over. */
  endedAtMs: number | undefined;
  /** It threw something on purpose that ends its instance. */
  threwAtMs: number | undefined;
}

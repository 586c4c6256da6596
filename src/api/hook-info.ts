/* What the methods of a `TaskHook` are told. */

import type { StreamName, TaskId } from '../base/ids.ts';
import type { FailReason } from '../model/fail-reason.ts';
import type { AnyTuple } from './tuple.ts';

/** A tuple has been emitted. */
export interface EmitInfo {
  readonly stream: StreamName;
  /** In the order of the stream's declaration; not to be changed. */
  readonly values: readonly unknown[];
  /** The task that emitted. */
  readonly task: TaskId;
  /** Those that a direct or custom grouping chose; undefined where the engine chooses. */
  readonly targetTasks: readonly number[] | undefined;
}

/** A spout's `ack` has been called, and its promise has settled if it returned one. */
export interface SpoutAckInfo {
  readonly messageId: unknown;
  readonly task: TaskId;
  /** From the emit until the task heard of the ack; 0 under at most once. */
  readonly completeLatencyMs: number;
}

/** A spout's `fail` has been called, and its promise has settled if it returned one. */
export interface SpoutFailInfo {
  readonly messageId: unknown;
  readonly reason: FailReason;
  readonly task: TaskId;
  /** From the emit until the task heard of the failure. */
  readonly failLatencyMs: number;
}

/** `execute` is over: it has returned, or its promise has settled. */
export interface BoltExecuteInfo {
  readonly tuple: AnyTuple;
  readonly task: TaskId;
  readonly executeLatencyMs: number;
}

/** A bolt has acked a tuple; a BasicBolt does when `execute` is over. */
export interface BoltAckInfo {
  readonly tuple: AnyTuple;
  readonly task: TaskId;
  /** Since the tuple was handed to `execute`. */
  readonly processLatencyMs: number;
}

/** A bolt has failed a tuple. */
export interface BoltFailInfo {
  readonly tuple: AnyTuple;
  readonly task: TaskId;
  readonly reason: unknown;
  /** Since the tuple was handed to `execute`. */
  readonly failLatencyMs: number;
}

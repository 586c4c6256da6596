import type { ComponentName, TaskId } from '../base/ids.ts';

/**
 * Why a tuple tree failed:
 *
 * - `time-out`: it was not settled within `topology.message.timeout.secs`
 * - `explicit`: a bolt called `fail`
 * - `thrown`: a bolt's `execute` threw or rejected
 * - `lost-instance`: the process of a task that held a tuple of it is gone
 * - `lost-stream-manager`: the stream manager that kept account of it, or that held a tuple of it,
 *   is gone or cut off, or its account may have a gap: without time-outs, also by the loss of an
 *   instance that may have had a tuple of it
 * - `dropped`: a tuple of it was dropped under back pressure, as
 *   `topology.droptuples.upon.backpressure` asks
 */
export type FailKind =
  | 'time-out'
  | 'explicit'
  | 'thrown'
  | 'lost-instance'
  | 'lost-stream-manager'
  | 'dropped';

/** What a spout hears of a failed tuple. */
export interface FailReason {
  readonly kind: FailKind;
  /** Where it failed, or what was lost; undefined where nobody can say. */
  readonly component: ComponentName | undefined;
  readonly task: TaskId | undefined;
  /** What was thrown, or given to `fail`. */
  readonly error: FailError | undefined;
}

export interface FailError {
  readonly message: string;
  readonly stack: string | undefined;
}

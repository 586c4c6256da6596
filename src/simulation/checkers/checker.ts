import type { PackingPlan } from '../../model/packing-plan.ts';
import type { Completion } from '../../model/completion.ts';
import type { ContainerReport } from '../../model/container-report.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import type { TaskId } from '../../base/ids.ts';
import type { RunHistory } from './run-history.ts';
import type { PressureView } from '../../stream-manager/back-pressure.ts';
import type { FaultCommand } from '../faults/fault.ts';
import type { Workload } from '../workload/workload.ts';

/*
  What must hold in every simulated run. A checker sees events while the run goes on and the whole
  run at its end; it knows nothing of how the run was made. Problems are sentences: an empty list
  means that all is well.
*/

export interface Checker {
  readonly name: string;
  observe?(event: SimulationEvent): void;
  /** Problems in words, at the end of the run. */
  finish(run: FinishedRun): readonly string[];
}

/** Bytes that arrived at one end of a connection; one direction keeps its order. */
export interface BytesEvent {
  readonly kind: 'bytes';
  readonly atMs: number;
  /** Unique in the run; the same for both directions. */
  readonly connection: number;
  /** Names of processes: `stmgr-1`, `tmaster`, `container_1_words_3`. */
  readonly from: string;
  readonly to: string;
  /** Valid only during the call. */
  readonly bytes: Uint8Array;
}

/** A connection is gone for one reason or another; also a half-open one, when it is cut. */
export interface ConnectionEndEvent {
  readonly kind: 'connection-end';
  readonly atMs: number;
  readonly connection: number;
}

/** Something that holds bytes, looked at while the run goes on. */
export interface Measure {
  /** `data-out ring`, `window towards task 3`, … */
  readonly what: string;
  readonly bytes: number;
  readonly limitBytes: number;
  /** What the end of a connection may add: a sender that connects again begins anew. */
  readonly perConnectionEndBytes?: number;
}

export interface MeasureEvent {
  readonly kind: 'measures';
  readonly atMs: number;
  readonly process: string;
  readonly measures: readonly Measure[];
}

/** A process works by a plan; said whenever it is looked at, not only at changes. */
export interface PlanEvent {
  readonly kind: 'plan';
  readonly atMs: number;
  readonly process: string;
  /** A new life of the process begins with no plan. */
  readonly pid: number;
  readonly plan: PhysicalPlan;
}

/** What a stream manager knows of back pressure and trees; said whenever it is looked at. */
export interface PressureEvent {
  readonly kind: 'pressure';
  readonly atMs: number;
  readonly process: string;
  readonly pid: number;
  readonly view: PressureView;
  /** Trees of its spouts that are neither acked nor failed. */
  readonly liveTrees: number;
}

/** A process has ended. */
export interface ProcessEnd {
  readonly kind: 'process-end';
  readonly atMs: number;
  readonly process: string;
  readonly pid: number;
  readonly code: number | null;
  readonly signal: string | null;
  /** Why, in one line, and then what it wrote last: the error that ended it, with its stack. */
  readonly reason: string;
}

/** Who lives; said whenever it is looked at. */
export interface LivingEvent {
  readonly kind: 'living';
  readonly atMs: number;
  readonly processes: readonly {
    readonly name: string;
    readonly pid: number;
    /** `paused` while it stands still. */
    readonly state?: string;
  }[];
}

/** A container's report in the state tree; said when another one is found there. */
export interface ReportEvent {
  readonly kind: 'report';
  readonly atMs: number;
  readonly report: ContainerReport;
}

/** Another packing plan was found in the state tree. */
export interface PackingEvent {
  readonly kind: 'packing';
  readonly atMs: number;
  readonly plan: PackingPlan;
}

export type SimulationEvent =
  | BytesEvent
  | ConnectionEndEvent
  | LivingEvent
  | ReportEvent
  | MeasureEvent
  | PackingEvent
  | PlanEvent
  | PressureEvent
  | ProcessEnd;

/** A command that was given, and what became of it. */
export interface CommandRecord {
  readonly command: FaultCommand['command'];
  readonly givenAtMs: number;
  /** Undefined when it never returned. */
  readonly returnedAtMs: number | undefined;
  /** The error it ended with; undefined when it succeeded. */
  readonly error: string | undefined;
  /** What was asked for was first seen to hold at this time; undefined when never. */
  readonly reachedAtMs: number | undefined;
}

/**
 * What the faults of the run may have caused. User code's own failures are not among them: the
 * ledger knows those.
 */
export interface FaultExplanation {
  /** False in a run to which nothing was done from outside, but for changes while it runs. */
  readonly hasFaults: boolean;
  /** Whether a process may have ended in that way at that time. */
  explainsEnd(end: ProcessEnd): boolean;
  /**
   * Whether data under way from one task to another may have been lost although no process ended:
   * dropped and half-open connections, partitions. `emittedAtMs` is when the tuple was emitted.
   */
  explainsLoss(way: LostWay): boolean;
  /**
   * Whether what should have happened between two times may be late: pauses, delays, partitions,
   * outages that touch a process.
   */
  explainsDelay(wait: DelayedWait): boolean;
}

export interface LostWay {
  readonly from: TaskId;
  readonly to: TaskId;
  readonly emittedAtMs: number;
}

export interface DelayedWait {
  readonly processes: readonly string[];
  readonly fromMs: number;
  readonly toMs: number;
}

/** What is still there after the end, by path or name; each list is empty when all is well. */
export interface Leftovers {
  readonly processes: readonly string[];
  readonly stateNodes: readonly string[];
  readonly files: readonly string[];
}

export interface FinishedRun {
  readonly workload: Workload;
  /** All tasks that any plan of the run has had, in their places. */
  readonly packing: PackingPlan;
  readonly history: RunHistory;
  readonly explanation: FaultExplanation;
  /**
   * `completed` and `killed`: the topology has come to its end and is gone. The others are limits
   * of the simulation that were hit first.
   */
  readonly outcome: 'completed' | 'killed' | 'time' | 'events' | 'idle';
  readonly endedAtMs: number;
  /**
   * When the topology began to be taken down: the completion record was there, or a kill was given.
   * Undefined when neither came to pass.
   */
  readonly takenDownFromMs: number | undefined;
  /** The completion record, if it was written. */
  readonly completion: Completion | undefined;
  readonly ends: readonly ProcessEnd[];
  readonly commands: readonly CommandRecord[];
  /** By the end of the run; the completion record is not one. */
  readonly leftovers: Leftovers;
}

import type { ComponentName, Epoch, InstanceId, StreamManagerId, TaskId } from '../base/ids.ts';
import type { MachineTime } from '../base/machine-time.ts';
import type { Incident } from './completion.ts';
import type { LogicalTopology } from './logical-topology.ts';

export interface StreamManagerAddress {
  readonly id: StreamManagerId;
  readonly host: string;
  /** For other stream managers. */
  readonly dataPort: number;
  /** For the instances of its container. */
  readonly localDataPort: number;
  readonly workingDirectory: string;
  readonly pid: number;
  readonly shellPort: number;
}

export interface InstanceAddress {
  readonly id: InstanceId;
  readonly streamManager: StreamManagerId;
  readonly task: TaskId;
  readonly componentIndex: number;
  readonly component: ComponentName;
  /** True when an update takes it away: it ends when its input has. Absent otherwise. */
  readonly isRetiring?: boolean;
  /**
   * A new spout task that does not begin yet, and the plan that it came with: the stream managers
   * do not all work by that one. Absent otherwise.
   */
  readonly joiningEpoch?: Epoch;
  /** True for a new spout task whose component had come to its end: it never begins. */
  readonly isWithoutInput?: boolean;
}

/** Pure: whether a task gets the plan that it is in, and begins its work. */
export function mayBegin({ joiningEpoch, isWithoutInput }: InstanceAddress): boolean {
  return joiningEpoch === undefined && isWithoutInput !== true;
}

/** Where every task of a running topology really is. Made by the topology master only. */
export interface PhysicalPlan {
  /** Grows with every plan of this topology; 0 in plans that another implementation made. */
  readonly epoch: Epoch;
  readonly topology: LogicalTopology;
  readonly streamManagers: readonly StreamManagerAddress[];
  readonly instances: readonly InstanceAddress[];
}

/** When the first plan of a topology was made, for the masters that come later. */
export interface FirstPlan {
  /** Milliseconds since the epoch, by the master's wall clock. */
  readonly wallMs: number;
  /** The same moment by a clock that nobody can set. */
  readonly machine: MachineTime;
}

/** The end of a process before the first plan of its topology: it cannot have had any tuples. */
export interface EarlyEnd {
  /** As the executor names it: `stmgr-1`, `container_1_words_3`. */
  readonly process: string;
  /** Milliseconds since the epoch, as its container's report has it. */
  readonly atMs: number;
}

/** What a topology master writes into a plan for itself and the masters after it. */
export interface MasterNotes {
  /** The incarnation that has written the plan last; 0 in plans of other implementations. */
  readonly masterEpoch: Epoch;
  readonly earlyEnds: readonly EarlyEnd[];
  readonly firstPlan?: FirstPlan;
  /** What befell processes that updates have taken away since. */
  readonly pastIncidents: readonly Incident[];
  /**
   * When the tasks that are retiring in the plan began to, in milliseconds since the epoch; absent
   * when none is.
   */
  readonly retiringSinceMs?: number;
}

import type { ComponentName, Epoch, InstanceId, StreamManagerId, TaskId } from '../base/ids.ts';
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
}

/** Where every task of a running topology really is. Made by the topology master only. */
export interface PhysicalPlan {
  /** Grows with every plan of this topology; 0 in plans that another implementation made. */
  readonly epoch: Epoch;
  readonly topology: LogicalTopology;
  readonly streamManagers: readonly StreamManagerAddress[];
  readonly instances: readonly InstanceAddress[];
}

/** The end of a process before the first plan of its topology: it cannot have had any tuples. */
export interface EarlyEnd {
  /** As the executor names it: `stmgr-1`, `container_1_words_3`. */
  readonly process: string;
  /** Milliseconds since the epoch, as its container's report has it. */
  readonly atMs: number;
}

import type { ContainerId, TopologyId, TopologyName } from '../base/ids.ts';
import type { ProcessReport } from '../model/container-report.ts';

/** Names one topology to its scheduler. */
export interface SchedulerTarget {
  readonly topologyName: TopologyName;
  readonly cluster: string;
  readonly role: string;
}

export interface LaunchRequest extends SchedulerTarget {
  readonly topologyId: TopologyId;
  readonly environ: string;
  /** Where the uploader put the topology's archive. */
  readonly archive: string;
}

export interface KillOptions {
  /** Keeps the log files where those of completed topologies are. */
  readonly keepLogs?: boolean;
}

/**
 * `alive`: the scheduler runs. `restarted`: it had died and runs again. `ended`: it had died while
 * it took its topology down, which is now done. `absent`: it does not know this topology.
 */
export type RepairOutcome = 'alive' | 'restarted' | 'ended' | 'absent';

export interface SchedulerDescription {
  /** Undefined where the scheduler is not a process of ours, or has died. */
  readonly schedulerPid: number | undefined;
  /** The executors, or what takes their place, by container. */
  readonly executors: readonly ProcessReport[];
}

/**
 * The port to what runs containers: processes of this machine, or a cluster's own scheduler. Before
 * `launch` the topology, its packing plan, its execution state and its token are in the state tree;
 * the scheduler keeps an executor alive for each container of the packing plan and for container 0.
 *
 * D1. Every method can be repeated after a crash at any point, its own or its caller's, and then
 *     finishes what was begun.
 * D2. When `kill` resolves nothing is left: no process, no node of the state tree, no file.
 */
export interface Scheduler {
  /**
   * Resolves when the scheduler has taken the topology over; its containers start afterwards.
   *
   * @throws EngineError PROCESS_FAILED with the reason and the last lines of what failed.
   */
  launch(request: LaunchRequest): Promise<void>;
  /**
   * Ends the topology, also one that was only half launched or half killed.
   *
   * @throws EngineError PROCESS_LOST that names what is left.
   */
  kill(target: SchedulerTarget, options?: KillOptions): Promise<void>;
  /**
   * Ends the executors of one container, or of all, and waits until others have taken their place.
   *
   * @throws EngineError TOPOLOGY_NOT_FOUND, or START_TIMEOUT when no other executor comes up.
   */
  restart(target: SchedulerTarget, container?: ContainerId): Promise<void>;
  /** Finds out whether the scheduler is still there and does its work if it is not. */
  repair(target: SchedulerTarget): Promise<RepairOutcome>;
  describe(target: SchedulerTarget): Promise<SchedulerDescription>;
  /**
   * Resolves when the processes of a topology whose nodes have gone are gone as well: whoever
   * removed the nodes needs a moment to end.
   *
   * @throws EngineError PROCESS_LOST when they do not end.
   */
  awaitEnd(topology: TopologyId): Promise<void>;
}

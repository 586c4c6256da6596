import type { TopologyId, TopologyName } from '../../base/ids.ts';
import type { Completion } from '../../model/completion.ts';
import type { ContainerReport } from '../../model/container-report.ts';
import type { DrainRequest } from '../../model/drain-request.ts';
import type { LogicalTopology } from '../../model/logical-topology.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import type { PlanIndex } from '../../model/plan-index.ts';
import type { ShownState } from '../../model/topology-state.ts';
import type { UpdateProgress } from '../../model/update-progress.ts';
import type { StoredExecutionState, ValueOf } from '../../wire/messages.ts';
import type { PhysicalPlanMessage } from '../../wire/physical-plan.ts';
import type { TopologyMessage } from '../../wire/topology.ts';

/*
  One topology as the state tree shows it. Immutable: whatever changes makes a new view, so that
  what is worked out of one can be kept beside it (WeakMap) and thrown away with it.

  V1. A node that is missing or damaged is undefined here; a damaged one is listed in `damage`.
  V2. Plans, locations and records of another submit under the same name are passed over.
*/

/** A node that is there but cannot be read. */
export interface Damage {
  /** The node's path in the state tree. */
  readonly node: string;
  readonly reason: string;
}

/** Where the topology master listens. */
export interface MasterLocation {
  readonly topologyName: string;
  readonly topologyId: string;
  readonly host: string;
  readonly serverPort: number;
  readonly controllerPort: number;
  readonly statsPort: number;
}

/** Where the metrics cache listens. */
export interface MetricsCacheAddress {
  readonly host: string;
  readonly serverPort: number;
  /** For questions by HTTP, in the same form as the topology master's. */
  readonly statsPort: number;
}

export type Registration =
  /** Ids of those that the plan has and that are not connected to the master. */
  { readonly missing: readonly string[] } | { readonly problem: string };

export interface SchedulerAddress {
  readonly topologyName: string;
  readonly httpEndpoint: string;
  /** Empty where the scheduler has no page for the topology. */
  readonly jobPageLinks: readonly string[];
}

/** Messages as they are stored: they hold what the model leaves out (T2 in wire/topology.ts). */
export interface StoredMessages {
  readonly topology: TopologyMessage | undefined;
  readonly execution: ValueOf<typeof StoredExecutionState> | undefined;
  readonly physicalPlan: PhysicalPlanMessage | undefined;
}

export interface TopologyView {
  /** Unique among all clusters: `<tracked cluster>/<name>`. */
  readonly key: string;
  /** The name of the cluster whose store holds it. */
  readonly trackedCluster: string;
  readonly name: TopologyName;
  /** As the execution state says; without one, the tracked cluster's name. */
  readonly cluster: string;
  /** As the execution state says; empty without one. */
  readonly role: string;
  readonly environ: string;
  readonly id: TopologyId | undefined;
  /** False for a completed topology, of which only the record of its end is left. */
  readonly hasNodes: boolean;
  readonly state: ShownState;
  /** When it was submitted, or completed; milliseconds since the epoch. */
  readonly sinceMs: number | undefined;
  /** The definition: that of the plan in force where there is one, else the submitted one. */
  readonly topology: LogicalTopology | undefined;
  readonly packingPlan: PackingPlan | undefined;
  readonly physicalPlan: PhysicalPlan | undefined;
  /** Of the physical plan. */
  readonly planIndex: PlanIndex | undefined;
  readonly master: MasterLocation | undefined;
  readonly metricsCache: MetricsCacheAddress | undefined;
  readonly scheduler: SchedulerAddress | undefined;
  /** By container; empty for topologies whose executors write none, as Heron's. */
  readonly reports: readonly ContainerReport[];
  readonly completion: Completion | undefined;
  readonly drain: DrainRequest | undefined;
  /** An update that is under way. */
  readonly update: UpdateProgress | undefined;
  readonly damage: readonly Damage[];
  /**
   * What its topology master says of the stream managers that are missing, or why it says nothing;
   * absent while it has not been asked.
   */
  readonly registration?: Registration;
  readonly messages: StoredMessages;
}

import { messageOf } from '../../base/errors.ts';
import { sameBytes } from '../../state-manager/same-bytes.ts';
import { type ContainerId, type TopologyName, topologyId } from '../../base/ids.ts';
import type { ContainerReport } from '../../model/container-report.ts';
import { parseCompletion } from '../../model/completion.ts';
import { parseDrainRequest } from '../../model/drain-request.ts';
import { PlanIndex } from '../../model/plan-index.ts';
import { paths } from '../../state-manager/paths.ts';
import { executionStateFromMessage } from '../../wire/execution-state.ts';
import {
  MetricsCacheLocation,
  SchedulerLocation,
  StoredExecutionState,
  StoredPhysicalPlan,
  StoredTopology,
  TopologyMasterLocation,
} from '../../wire/messages.ts';
import { decodePackingPlan } from '../../wire/packing-plan.ts';
import { physicalPlanFromMessage } from '../../wire/physical-plan.ts';
import { topologyFromMessage } from '../../wire/topology.ts';
import type { Registration } from './topology-view.ts';

/* The nodes of one topology, how each is read, and what is kept of one between two looks. */

/** Those that every topology may have, one each; the reports of its containers come on top. */
export const NODES = {
  topology: {
    path: (name: TopologyName) => paths.topology(name),
    decode(bytes: Uint8Array) {
      const message = StoredTopology.decode(bytes);
      return { message, model: topologyFromMessage(message) };
    },
  },
  packingPlan: {
    path: (name: TopologyName) => paths.packingPlan(name),
    decode: decodePackingPlan,
  },
  execution: {
    path: (name: TopologyName) => paths.executionState(name),
    decode(bytes: Uint8Array) {
      const message = StoredExecutionState.decode(bytes);
      return { message, model: executionStateFromMessage(message) };
    },
  },
  physicalPlan: {
    path: (name: TopologyName) => paths.physicalPlan(name),
    decode(bytes: Uint8Array) {
      const message = StoredPhysicalPlan.decode(bytes);
      const model = physicalPlanFromMessage(message);
      return { message, model, index: new PlanIndex(model) };
    },
  },
  master: {
    path: (name: TopologyName) => paths.topologyMaster(name),
    decode: (bytes: Uint8Array) => TopologyMasterLocation.decode(bytes),
  },
  metricsCache: {
    path: (name: TopologyName) => paths.metricsCache(name),
    decode(bytes: Uint8Array) {
      const { topologyId: id, host, serverPort, statsPort } = MetricsCacheLocation.decode(bytes);
      return { topologyId: topologyId(id), host, serverPort, statsPort };
    },
  },
  scheduler: {
    path: (name: TopologyName) => paths.scheduler(name),
    decode: (bytes: Uint8Array) => SchedulerLocation.decode(bytes),
  },
  completion: {
    path: (name: TopologyName) => paths.completed(name),
    decode: parseCompletion,
  },
  drain: {
    path: (name: TopologyName) => paths.drain(name),
    decode: parseDrainRequest,
  },
  token: {
    path: (name: TopologyName) => paths.token(name),
    decode: (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8'),
  },
} as const;

export type NodeKind = keyof typeof NODES;

export const NODE_KINDS = Object.keys(NODES) as readonly NodeKind[];

export type NodeValue<Kind extends NodeKind> = ReturnType<(typeof NODES)[Kind]['decode']>;

/** Which node of a topology is meant. */
export type NodeAddress = NodeKind | ContainerId;

export function nodePathOf(name: TopologyName, address: NodeAddress): string {
  return typeof address === 'number' ? paths.container(name, address) : NODES[address].path(name);
}

/** What a look at a node found. */
export type FoundNode =
  /** Undefined: there is none. */
  | { readonly bytes: Uint8Array | undefined }
  /** The store is there, but it does not give this node. */
  | { readonly problem: string };

/** What is known of a node. */
export interface KnownNode<Value> {
  readonly bytes: Uint8Array | undefined;
  /** Undefined without bytes, or when they cannot be read. */
  readonly value: Value | undefined;
  /** Why it cannot be read. */
  readonly problem: string | undefined;
}

export type KnownNodes = { [Kind in NodeKind]: KnownNode<NodeValue<Kind>> };

/** What is known of all nodes of one topology. */
export interface TopologyNodes extends Readonly<KnownNodes> {
  readonly reports: ReadonlyMap<ContainerId, KnownNode<ContainerReport>>;
  /** What the topology master says. */
  readonly registration: Registration | undefined;
}

export const ABSENT: KnownNode<never> = { bytes: undefined, value: undefined, problem: undefined };

/** The same object when nothing has changed, so that what was decoded is decoded once. */
export function afterLook<Value>(
  known: KnownNode<Value>,
  found: FoundNode,
  decode: (bytes: Uint8Array) => Value,
): KnownNode<Value> {
  if ('problem' in found) {
    const { problem } = found;
    return known.problem === problem ? known : { ...known, bytes: undefined, problem };
  }
  const { bytes } = found;
  // Bytes that could not be had before may be the same as ever; the value is made anew then.
  if (sameBytes(known.bytes, bytes) && (bytes !== undefined || known.problem === undefined)) {
    return known;
  }
  if (bytes === undefined) return ABSENT;
  try {
    return { bytes, value: decode(bytes), problem: undefined };
  } catch (error) {
    return { bytes, value: undefined, problem: messageOf(error) };
  }
}

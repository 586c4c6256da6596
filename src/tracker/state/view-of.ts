import type { TopologyId, TopologyName } from '../../base/ids.ts';
import type { ContainerReport } from '../../model/container-report.ts';
import { isForeignTopology } from '../../model/foreign-topology.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import { type ShownState, topologyState } from '../../model/topology-state.ts';
import { type UpdateProgress, updateProgress } from '../../model/update-progress.ts';
import { NODE_KINDS, type NodeKind, nodePathOf, type TopologyNodes } from './stored-node.ts';
import type { Damage, TopologyView } from './topology-view.ts';

const MS_PER_SECOND = 1000;

/** Without one of these a topology cannot be shown to be well. */
const VITAL: ReadonlySet<NodeKind> = new Set([
  'topology',
  'packingPlan',
  'execution',
  'physicalPlan',
]);

/** Pure: one topology as its nodes show it. */
export function viewOf(
  trackedCluster: string,
  name: TopologyName,
  nodes: TopologyNodes,
): TopologyView {
  const current = ofOneSubmit(nodes);
  const { id, execution, packingPlan, physicalPlan, master, metricsCache, scheduler } = current;
  const reports = reportsIn(nodes);
  const submittedAt = execution?.model.submittedAtSeconds;
  const view = {
    key: `${trackedCluster}/${name}`,
    trackedCluster,
    name,
    cluster: execution?.model.cluster ?? trackedCluster,
    role: execution?.model.role ?? '',
    environ: execution?.model.environ ?? '',
    id: id ?? current.completion?.topologyId,
    hasNodes: current.hasNodes,
    state: withRegistration(stateOf(nodes, current, reports), nodes),
    sinceMs: current.completion?.completedAtMs ?? (submittedAt && submittedAt * MS_PER_SECOND),
    topology: physicalPlan?.model.topology ?? nodes.topology.value?.model,
    packingPlan,
    physicalPlan: physicalPlan?.model,
    planIndex: physicalPlan?.index,
    master,
    metricsCache,
    scheduler: scheduler && {
      topologyName: scheduler.topologyName,
      httpEndpoint: scheduler.httpEndpoint,
      jobPageLinks: scheduler.jobPageLink,
    },
    reports,
    completion: current.completion,
    drain: current.drain,
    update: updateOf(current, reports),
    damage: damageIn(name, nodes),
    ...(nodes.registration !== undefined && { registration: nodes.registration }),
    messages: {
      topology: nodes.topology.value?.message,
      execution: execution?.message,
      physicalPlan: physicalPlan?.message,
    },
  };
  return view;
}

interface CurrentNodes {
  readonly id: TopologyId | undefined;
  readonly hasNodes: boolean;
  readonly execution: TopologyNodes['execution']['value'];
  readonly packingPlan: TopologyNodes['packingPlan']['value'];
  readonly physicalPlan: TopologyNodes['physicalPlan']['value'];
  readonly master: TopologyNodes['master']['value'];
  readonly metricsCache: TopologyNodes['metricsCache']['value'];
  readonly scheduler: TopologyNodes['scheduler']['value'];
  readonly completion: TopologyNodes['completion']['value'];
  readonly drain: TopologyNodes['drain']['value'];
}

/** What belongs to the topology at hand (V2); nothing is passed over while that is not known. */
function ofOneSubmit(nodes: TopologyNodes): CurrentNodes {
  const { topology, execution, physicalPlan, completion } = nodes;
  const id = topology.value?.model.id ?? execution.value?.model.topologyId;
  const fits = (other: string | undefined): boolean => id === undefined || other === id;
  const only = <Value>(value: Value | undefined, other: (value: Value) => string) =>
    value !== undefined && fits(other(value)) ? value : undefined;
  const hasNodes = NODE_KINDS.some(
    (kind) => kind !== 'completion' && (nodes[kind].bytes ?? nodes[kind].problem) !== undefined,
  );
  const ended = completion.value;
  return {
    id,
    hasNodes,
    execution: execution.value,
    packingPlan: nodes.packingPlan.value,
    physicalPlan: only(physicalPlan.value, ({ model }) => model.topology.id),
    master: only(nodes.master.value, ({ topologyId }) => topologyId),
    metricsCache: only(nodes.metricsCache.value, ({ topologyId }) => topologyId),
    scheduler: nodes.scheduler.value,
    completion: hasNodes && ended?.topologyId !== id ? undefined : ended,
    drain: only(nodes.drain.value, ({ topologyId }) => topologyId),
  };
}

function stateOf(
  nodes: TopologyNodes,
  { id, hasNodes, packingPlan, physicalPlan, completion }: CurrentNodes,
  reports: readonly ContainerReport[],
): ShownState {
  const isDamaged = [...VITAL].some((kind) => nodes[kind].problem !== undefined);
  if (isDamaged) return 'DAMAGED';
  const topology = nodes.topology.value?.model;
  if (hasNodes && topology === undefined) return 'HALF_DEAD';
  const plan = physicalPlan?.model;
  // Heron's executors report nothing: its topologies are as their plans say.
  if (topology !== undefined && isForeignTopology(topology) && reports.length === 0) {
    if (completion !== undefined) return 'COMPLETED';
    if (plan === undefined) return 'STARTING';
    return plan.topology.state === 'KILLED' ? 'DRAINING' : plan.topology.state;
  }
  return topologyState({
    id,
    packingPlan,
    physicalPlan: plan,
    reports,
    completion,
    isDamaged,
    // A scheduler does not show itself in the tree; that its executors live does.
    scheduler: 'alive',
  });
}

/**
 * Reports are what executors said last, and a dead one says nothing. Its topology master notices,
 * by the stream manager that is gone; and that the master is gone everybody notices.
 */
function withRegistration(state: ShownState, { registration }: TopologyNodes): ShownState {
  if (registration === undefined || (state !== 'RUNNING' && state !== 'PAUSED')) return state;
  const isWhole = 'missing' in registration && registration.missing.length === 0;
  return isWhole ? state : 'DEGRADED';
}

/** The packing plan that is fully in force by a physical plan: to find out takes a look at all. */
const inForce = new WeakMap<PhysicalPlan, PackingPlan>();

function updateOf(
  { packingPlan, physicalPlan: node }: CurrentNodes,
  reports: readonly ContainerReport[],
): UpdateProgress | undefined {
  if (packingPlan === undefined || node === undefined) return undefined;
  const { model: physicalPlan } = node;
  if (inForce.get(physicalPlan) === packingPlan) return undefined;
  const progress = updateProgress({ packingPlan, physicalPlan, reports });
  if (progress === undefined) inForce.set(physicalPlan, packingPlan);
  return progress;
}

function reportsIn({ reports }: TopologyNodes): readonly ContainerReport[] {
  return [...reports.values()]
    .flatMap(({ value }) => value ?? [])
    .toSorted((left, right) => left.containerId - right.containerId);
}

/** Whoever may not read tokens can still look at everything else. */
function damageIn(name: TopologyName, nodes: TopologyNodes): readonly Damage[] {
  const kinds = NODE_KINDS.filter((kind) => kind !== 'token');
  const all = [
    ...kinds.map((kind) => [kind, nodes[kind].problem] as const),
    ...Array.from(nodes.reports, ([container, { problem }]) => [container, problem] as const),
  ];
  return all.flatMap(([address, reason]) =>
    reason === undefined ? [] : [{ node: nodePathOf(name, address), reason }],
  );
}

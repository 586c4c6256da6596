import type { TopologyName } from '../../base/ids.ts';
import { containerId, instanceIdOf, streamManagerIdOf } from '../../base/ids.ts';
import type { ContainerReport, ProcessReport } from '../../model/container-report.ts';
import { expectedProcesses } from '../../model/expected-processes.ts';
import type { LogicalTopology } from '../../model/logical-topology.ts';
import type { ContainerPlan, InstancePlan, PackingPlan } from '../../model/packing-plan.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import { packingThatRuns } from '../../model/settled-packing.ts';
import { topologyState } from '../../model/topology-state.ts';
import type { Place } from '../place.ts';
import type { TopologyRecord } from '../topology-record.ts';
import type { FiguresAnswer } from './figure-reader.ts';
import {
  type ComponentRow,
  type Flow,
  joinedFlow,
  NO_FLOW,
  type TaskRow,
  type TaskState,
  type TopologyDetail,
} from './top-model.ts';

/** Everything that is known of one topology at one moment. */
export interface TopFacts {
  readonly name: TopologyName;
  readonly place: Place;
  readonly record: TopologyRecord;
  readonly physicalPlan: PhysicalPlan | undefined;
  readonly reports: readonly ContainerReport[];
  /** Whether its scheduler lives, here or elsewhere; undefined: another command works on it. */
  readonly hasScheduler: boolean | undefined;
  readonly figures: FiguresAnswer;
}

const MS_PER_SECOND = 1_000;

/** Pure: what a topology and its tasks do, or that nobody knows. */
export function detailOf(facts: TopFacts): TopologyDetail {
  const { record, reports, figures, place } = facts;
  const state = stateOf(facts);
  const isOver = state === 'COMPLETED' || state === 'HALF_DEAD';
  const tasks = isOver ? [] : tasksOf(facts);
  const components = isOver ? [] : componentsOf(record.topology, tasks);
  const processes = reports.flatMap((report) => report.processes);
  const submittedMs = (record.execution?.submittedAtSeconds ?? 0) * MS_PER_SECOND;
  const [role, environ] = record.hasNodes ? [place.role, place.environ] : [null, null];
  return {
    row: {
      name: facts.name,
      cluster: place.cluster,
      role,
      environ,
      state,
      sinceMs: record.completion?.completedAtMs ?? (submittedMs || undefined),
      ...containersOf(facts),
      restarts: processes.reduce((sum, { restarts }) => sum + restarts, 0),
      ...totalOf(components),
      unknownBecause: isOver || figures.isKnown ? undefined : figures.because,
    },
    components,
    tasks,
  };
}

function stateOf(facts: TopFacts) {
  const { record, physicalPlan, reports, hasScheduler } = facts;
  const { topology, packingPlan, completion } = record;
  if (!record.hasNodes && completion === undefined) return 'GONE';
  const isLeftOver = hasScheduler === false && physicalPlan === undefined && reports.length === 0;
  return topologyState({
    id: topology?.id ?? completion?.topologyId,
    packingPlan,
    physicalPlan,
    reports,
    completion,
    isDamaged: record.damage.length > 0,
    scheduler: isLeftOver ? 'absent' : hasScheduler === true ? 'alive' : undefined,
  });
}

/** What is in force; before that, what is to be. */
function planOf({ record, physicalPlan }: TopFacts): PackingPlan | undefined {
  const { packingPlan, topology } = record;
  if (packingPlan === undefined) return undefined;
  const isOfThis = physicalPlan !== undefined && physicalPlan.topology.id === topology?.id;
  return isOfThis ? packingThatRuns(packingPlan, physicalPlan) : packingPlan;
}

/** One counts as up when every process of it runs and its stream manager is in touch. */
function containersOf(facts: TopFacts) {
  const plan = planOf(facts);
  if (plan === undefined || facts.record.completion !== undefined) {
    return { containersUp: 0, containersWanted: 0 };
  }
  const running = new Set(
    facts.reports.flatMap(({ processes }) =>
      processes.filter(({ state }) => state === 'running').map(({ name }) => name),
    ),
  );
  const none = expectedProcesses({ ...plan, containers: [] });
  const isUp = (container: ContainerPlan): boolean =>
    isReached(facts, container.id) &&
    expectedProcesses({ ...plan, containers: [container] }).every(
      (name) => none.includes(name) || running.has(name),
    );
  const up = plan.containers.filter(isUp).length;
  const isMasterUp = none.every((name) => running.has(name));
  return { containersUp: up + (isMasterUp ? 1 : 0), containersWanted: plan.containers.length + 1 };
}

/** As far as the master says: one that hangs is not blamed on the containers. */
function isReached({ figures }: TopFacts, container: number): boolean {
  if (!figures.isKnown) return true;
  return !figures.figures.absent.has(streamManagerIdOf(containerId(container)));
}

function tasksOf(facts: TopFacts): readonly TaskRow[] {
  const { reports } = facts;
  const byContainer = new Map(reports.map((report) => [Number(report.containerId), report]));
  return (planOf(facts)?.containers ?? []).flatMap((container) => {
    const report = byContainer.get(container.id);
    const processes = new Map(report?.processes.map((process) => [process.name, process]));
    return container.instances.map((instance) =>
      taskOf(facts, { container, instance, report, processes }),
    );
  });
}

function taskOf(
  facts: TopFacts,
  {
    container,
    instance,
    report,
    processes,
  }: {
    readonly container: ContainerPlan;
    readonly instance: InstancePlan;
    readonly report: ContainerReport | undefined;
    readonly processes: ReadonlyMap<string, ProcessReport>;
  },
): TaskRow {
  const { component, task } = instance;
  const id = instanceIdOf(container.id, component, task);
  const process = processes.get(id);
  const isReachable = isReached(facts, container.id);
  const state: TaskState =
    process?.state === 'running' && !isReachable ? 'unreached' : (process?.state ?? 'unknown');
  return {
    instance: id,
    component,
    task,
    container: container.id,
    host: report?.host,
    state,
    restarts: process?.restarts ?? 0,
    ...(state === 'running' ? flowIn(facts, id) : NO_FLOW),
  };
}

function flowIn({ figures }: TopFacts, instance: string): Flow {
  return (figures.isKnown ? figures.figures.flows.get(instance) : undefined) ?? NO_FLOW;
}

function componentsOf(
  topology: LogicalTopology | undefined,
  tasks: readonly TaskRow[],
): readonly ComponentRow[] {
  return (topology?.components ?? []).map(({ kind, name }) => {
    const own = tasks.filter(({ component }) => component === name);
    return {
      type: kind,
      component: name,
      tasksUp: own.filter(({ state }) => state === 'running').length,
      tasks: own.length,
      ...joinedFlow(own),
    };
  });
}

/**
 * Of a whole topology: what its spouts emit, what its bolts execute, what its spouts have seen
 * settled; of the times of bolts the longest.
 */
function totalOf(components: readonly ComponentRow[]): Flow {
  const spouts = joinedFlow(components.filter(({ type }) => type === 'spout'));
  const bolts = components.filter(({ type }) => type === 'bolt');
  const all = joinedFlow(components);
  const longest = (key: 'executeMs' | 'processMs'): number | null => {
    const known = bolts.map((bolt) => bolt[key]).filter((value) => value !== null);
    return known.length === 0 ? null : Math.max(...known);
  };
  return {
    emitted: spouts.emitted,
    executed: joinedFlow(bolts).executed,
    acked: spouts.acked,
    // At most once a bolt's failures are all there are.
    failed: all.failed,
    completeMs: spouts.completeMs,
    executeMs: longest('executeMs'),
    processMs: longest('processMs'),
    capacity: all.capacity,
    backPressure: all.backPressure,
  };
}

import { EXIT } from '../base/exit-codes.ts';
import {
  type ComponentName,
  componentOfInstance,
  containerOfStreamManager,
  type Epoch,
  type TaskId,
  type TopologyId,
} from '../base/ids.ts';
import type { Completion, Incident } from '../model/completion.ts';
import type { ContainerReport, ProcessReport } from '../model/container-report.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import {
  type EarlyEnd,
  type InstanceAddress,
  mayBegin,
  type StreamManagerAddress,
} from '../model/physical-plan.ts';
import { reliabilityOf } from '../model/reliability.ts';
import { replayedComponents } from '../model/replaying-spouts.ts';
import { isSameProcess } from './placement.ts';
import type { Registration } from './registration-decision.ts';

/*
  When a topology is complete, and what may be missing from its results: every end of a process that
  carries data may have cost tuples, and so may a broken connection between an instance and its
  stream manager; the others cost nothing. model/completion.ts says when tuples come again.

  What ended before the first plan never had any tuples. The plan says when it was made, by a clock
  that shows how far the wall clock has been set back since; and it says what was known to have
  ended before it, for the wall clock may have been set back just ahead of it. A master on another
  machine goes by the latter alone, and takes everything else for a loss.

  The tasks of the plan in force count. What befell one that an update has taken away was written
  down when it left the plan; what ends of it afterwards has no tuples any more.
*/

/** A task that has ended, as its stream manager says. */
export interface EndedTask {
  readonly task: TaskId;
  /** The plan that the stream manager worked by then; 0 when it does not say. */
  readonly planEpoch: Epoch;
}

/** By which plan each task has ended that has. */
export type EndsByPlan = ReadonlyMap<TaskId, Epoch>;

/** Pure: true when every task of the plan has ended. */
export function isComplete(instances: readonly InstanceAddress[], ended: EndsByPlan): boolean {
  return instances.length > 0 && instances.every((instance) => ended.has(instance.task));
}

/**
 * Pure: whether what a component emits can have no effect any more: all of its tasks have ended, or
 * one of those that read from it has, which only ends when all of these have.
 */
export function hasEnded(
  component: ComponentName,
  { components }: Pick<LogicalTopology, 'components'>,
  instances: readonly InstanceAddress[],
  ended: EndsByPlan,
): boolean {
  const own = instances.filter((each) => each.component === component && mayBegin(each));
  if (own.length > 0 && own.every(({ task }) => ended.has(task))) return true;
  return readersOf(component, components, instances).some(({ task }) => ended.has(task));
}

/**
 * Pure: whether tasks that read from a component may have ended without knowing of those of its
 * tasks that came with a plan: when all that were there before had ended by an older one
 * (E5 of end-markers.ts in the stream manager), or when one that stays has in fact ended.
 */
export function hasEndedBefore(
  planEpoch: Epoch,
  component: ComponentName,
  {
    topology: { components },
    instances,
    ended,
  }: {
    readonly topology: Pick<LogicalTopology, 'components'>;
    readonly instances: readonly InstanceAddress[];
    readonly ended: EndsByPlan;
  },
): boolean {
  const own = instances.filter((each) => each.component === component && mayBegin(each));
  const isBefore = ({ task }: InstanceAddress): boolean => {
    const endEpoch = ended.get(task);
    return endEpoch !== undefined && endEpoch < planEpoch;
  };
  if (own.length > 0 && own.every(isBefore)) return true;
  return readersOf(component, components, instances).some(
    ({ task, isRetiring }) => isRetiring !== true && ended.has(task),
  );
}

function readersOf(
  component: ComponentName,
  components: LogicalTopology['components'],
  instances: readonly InstanceAddress[],
): readonly InstanceAddress[] {
  const readers = components.filter(
    (each) => each.kind === 'bolt' && each.inputs.some((input) => input.component === component),
  );
  const names = new Set(readers.map(({ name }) => name));
  return instances.filter((each) => names.has(each.component));
}

export interface CompletionFacts {
  readonly topologyId: TopologyId;
  readonly topology: Pick<LogicalTopology, 'config' | 'components'>;
  /** Of the plan in force. */
  readonly instances: readonly InstanceAddress[];
  readonly nowMs: number;
  /** Data flows from the first plan on; 0 when nobody can tell when that was made. */
  readonly firstPlanAtMs: number;
  readonly earlyEnds: readonly EarlyEnd[];
  readonly reports: readonly ContainerReport[];
  /** What the master saw itself; counts where the reports know nothing. */
  readonly seen: readonly Incident[];
  /** Of processes that left the plan before. */
  readonly pastIncidents: readonly Incident[];
}

/** Pure: the record of a topology whose tasks have all ended. */
export function completionOf(facts: CompletionFacts): Completion {
  const inForce = new Set<string>(
    facts.instances.flatMap(({ id, streamManager }) => [id, streamManager]),
  );
  const isInForce = ({ process }: Incident): boolean => inForce.has(process);
  const reported = facts.reports.flatMap((report) => incidentsOf(report, facts)).filter(isInForce);
  const isReported = (incident: Incident): boolean =>
    reported.some((known) => known.process === incident.process);
  const seen = facts.seen.filter((incident) => isInForce(incident) && !isReported(incident));
  const incidents = [...facts.pastIncidents, ...reported, ...seen];
  const isRecovered = recoveryOf(facts);
  const { true: recovered = [], false: losses = [] } = Object.groupBy(
    incidents.toSorted((a, b) => a.atMs - b.atMs),
    ({ process }) => (isRecovered(process) ? 'true' : 'false'),
  );
  return {
    topologyId: facts.topologyId,
    completedAtMs: facts.nowMs,
    result: losses.length === 0 ? 'completed' : 'completed-with-losses',
    incidents: losses,
    recovered,
  };
}

/** Pure: what has ended already when the first plan is made. */
export function earlyEndsOf(reports: readonly ContainerReport[]): readonly EarlyEnd[] {
  return reports.flatMap(({ processes }) =>
    processes.flatMap(({ name, lastExit }) =>
      lastExit !== undefined && carriesData(name) ? [{ process: name, atMs: lastExit.atMs }] : [],
    ),
  );
}

/** Pure: the ends in a report that may have cost tuples. */
export function incidentsOf(
  report: ContainerReport,
  { firstPlanAtMs, earlyEnds }: Pick<CompletionFacts, 'firstPlanAtMs' | 'earlyEnds'>,
): Incident[] {
  return report.processes.flatMap(({ name, lastExit }) => {
    const isLoss =
      lastExit !== undefined &&
      carriesData(name) &&
      lastExit.atMs >= firstPlanAtMs &&
      !earlyEnds.some(({ process, atMs }) => process === name && atMs === lastExit.atMs) &&
      lastExit.code !== EXIT.portInUse; // It never got as far as to take any data.
    if (!isLoss) return [];
    const { atMs, reason } = lastExit;
    return [{ atMs, container: report.containerId, process: name, reason }];
  });
}

/** Of which processes every tuple came again. */
function recoveryOf({ topology }: CompletionFacts): (process: string) => boolean {
  const { config, components } = topology;
  if (reliabilityOf(config) === 'ATMOST_ONCE') return () => false;
  const replayed = replayedComponents(components);
  // Any tuple may have been in a stream manager.
  if (replayed.size === components.length) return () => true;
  return (process) => {
    const component = componentOfInstance(process);
    return component !== undefined && replayed.has(component);
  };
}

/** Stream managers and instances; a topology master or metrics manager costs no tuples. */
export function carriesData(process: ProcessReport['name']): boolean {
  return process.startsWith('stmgr-') || process.startsWith('container_');
}

/** What a stream manager says of a task of its container. */
export interface LostTask {
  readonly taskId: number;
  readonly lostAt: bigint;
}

/**
 * Pure: the instances that a stream manager has lost before their tasks had ended. Reports of the
 * executor say more, but may come too late, or never while the state tree is away.
 */
export function lostInstances(
  { address, instances }: Registration,
  lost: readonly LostTask[],
): Incident[] {
  const container = containerOfStreamManager(address.id) ?? 0;
  return lost.flatMap(({ taskId, lostAt }) => {
    const instance = instances.find(({ task }) => task === taskId);
    if (instance === undefined) return [];
    const reason = `${address.id} lost the connection with it`;
    return [{ atMs: Number(lostAt), container, process: instance.id, reason }];
  });
}

/** Pure: the instances that an update takes away before they have worked off their input. */
export function cutShortIncidents(
  instances: readonly InstanceAddress[],
  nowMs: number,
): readonly Incident[] {
  return instances.map(({ id, streamManager }) => ({
    atMs: nowMs,
    container: containerOfStreamManager(streamManager) ?? 0,
    process: id,
    reason: 'an update took it away before it had worked off its input',
  }));
}

/** Pure: stream managers that are other processes than before, as when a whole container died. */
export function replacedProcesses(
  before: readonly StreamManagerAddress[],
  after: readonly StreamManagerAddress[],
  nowMs: number,
): Incident[] {
  return after.flatMap((address) => {
    const old = before.find((known) => known.id === address.id);
    if (old === undefined || isSameProcess(old, address)) return [];
    const container = containerOfStreamManager(address.id) ?? 0;
    const [was, is] = [`${old.pid} on ${old.host}`, `${address.pid} on ${address.host}`];
    const reason = `started again: process ${was}, now ${is}`;
    return [{ atMs: nowMs, container, process: address.id, reason }];
  });
}

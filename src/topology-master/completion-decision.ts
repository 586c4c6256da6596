import { EXIT } from '../base/exit-codes.ts';
import { containerOfStreamManager, type TaskId, type TopologyId } from '../base/ids.ts';
import type { Completion, Incident } from '../model/completion.ts';
import type { ContainerReport, ProcessReport } from '../model/container-report.ts';
import type { InstanceAddress, StreamManagerAddress } from '../model/physical-plan.ts';
import { isSameProcess } from './placement.ts';
import type { Registration } from './registration-decision.ts';

/*
  When a topology is complete, and what may be missing from its results. Under at most once every
  end of a process that carries data may have cost tuples, and so may a broken connection between an
  instance and its stream manager; the others cost nothing.
*/

/** Pure: true when every task of the plan has ended. */
export function isComplete(
  instances: readonly InstanceAddress[],
  ended: ReadonlySet<TaskId>,
): boolean {
  return instances.length > 0 && instances.every((instance) => ended.has(instance.task));
}

export interface CompletionFacts {
  readonly topologyId: TopologyId;
  readonly nowMs: number;
  /** Data flows from the first plan on; 0 when an earlier incarnation of the master made it. */
  readonly firstPlanAtMs: number;
  readonly reports: readonly ContainerReport[];
  /** What the master saw itself; counts where the reports know nothing. */
  readonly seen: readonly Incident[];
}

/** Pure: the record of a topology whose tasks have all ended. */
export function completionOf(facts: CompletionFacts): Completion {
  const reported = facts.reports.flatMap((report) => incidentsOf(report, facts.firstPlanAtMs));
  const isReported = (incident: Incident): boolean =>
    reported.some((known) => known.process === incident.process);
  const incidents = [...reported, ...facts.seen.filter((incident) => !isReported(incident))];
  return {
    topologyId: facts.topologyId,
    completedAtMs: facts.nowMs,
    result: incidents.length === 0 ? 'completed' : 'completed-with-losses',
    incidents: incidents.toSorted((a, b) => a.atMs - b.atMs),
  };
}

function incidentsOf(report: ContainerReport, firstPlanAtMs: number): Incident[] {
  return report.processes.flatMap(({ name, lastExit }) => {
    const isLoss =
      lastExit !== undefined &&
      carriesData(name) &&
      lastExit.atMs >= firstPlanAtMs &&
      lastExit.code !== EXIT.portInUse; // It never got as far as to take any data.
    if (!isLoss) return [];
    const { atMs, reason } = lastExit;
    return [{ atMs, container: report.containerId, process: name, reason }];
  });
}

/** Stream managers and instances; a topology master or metrics manager costs no tuples. */
function carriesData(process: ProcessReport['name']): boolean {
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

import { userError } from '../../base/errors.ts';
import { type ContainerId, containerId } from '../../base/ids.ts';
import type { ContainerReport, ProcessReport } from '../../model/container-report.ts';
import { didYouMean } from '../../model/nearest.ts';
import { encodeRestartRequest, isMeant, restartRequestOf } from '../../model/restart-request.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';
import { packingThatRuns } from '../../model/settled-packing.ts';
import { paths } from '../../state-manager/paths.ts';
import { awaitReturn } from '../await-return.ts';
import { targetOf } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { withCommandLock } from '../command-lock.ts';
import { findTopology, type FoundTopology, type TopologyArguments } from '../find-topology.ts';
import { runningId } from '../running-id.ts';
import { lockOf } from '../submission.ts';

/*
  What is restarted, by what is written after the topology's name:

    nothing, or Heron's -1     every container, one after the other: the next one when the processes
                               of the one before are up again
    a number                   that container; 0 is the topology master's
    a process, as in status    that process alone, by its executor (model/restart-request.ts)

  Repeated after a crash, a restart of containers restarts them again; one of a process does too,
  unless the crash came before its request was stored. Nothing needs to be cleared away.
*/

export interface RestartArguments extends TopologyArguments {
  readonly what: string | undefined;
  readonly timeoutSeconds: number;
}

const ALL_CONTAINERS = '-1';
const MS_PER_SECOND = 1000;

type Chosen =
  | { readonly kind: 'containers'; readonly ids: readonly ContainerId[]; readonly isAll: boolean }
  | { readonly kind: 'process'; readonly id: ContainerId; readonly process: ProcessReport };

/** Resolves when the topology is whole again. */
export async function restart(
  given: RestartArguments,
  context: CommandContext,
): Promise<CommandResult> {
  await using found = await findTopology(given, context);
  const { cluster, place, status } = found;
  const id = runningId(found);
  const { name, topology, packingPlan } = status.record;
  if (topology === undefined || packingPlan === undefined) {
    throw userError('TOPOLOGY_NOT_READY', `${name} has no packing plan: nothing runs`);
  }
  const chosen = choose(given.what, found);
  const lock = { ...lockOf(cluster, context, name), command: 'heron restart' };
  // An update that is not in force may wait for what never comes up.
  const running = status.physicalPlan
    ? packingThatRuns(packingPlan, status.physicalPlan)
    : packingPlan;
  const deadlineMs = context.clock.now() + given.timeoutSeconds * MS_PER_SECOND;
  const awaitWhole = (part: Chosen, plan: PackingPlan): Promise<void> => {
    const unreplaced = (reports: readonly ContainerReport[]): string | undefined =>
      unreplacedOf(part, status.reports, reports);
    const limits = { deadlineMs, timeoutSeconds: given.timeoutSeconds };
    const returning = { place, topology, packingPlan: plan, unreplaced, ...limits };
    return awaitReturn(returning, cluster, context);
  };
  await context.output.whileWaiting(`restarting ${textOf(chosen)}`, async () => {
    for (const part of partsOf(chosen)) {
      await withCommandLock(lock, () => begin(part, found));
      context.afterStep('restart');
      if (chosen.kind === 'containers') await awaitWhole(part, onlyContainers(running, part));
    }
    await awaitWhole(chosen, running);
  });
  const restarted =
    chosen.kind === 'process'
      ? { containers: [], processes: [chosen.process.name] }
      : { containers: chosen.ids, processes: [] };
  return {
    json: { name, id, ...place, restarted },
    text: `${textOf(chosen)} of ${name} was restarted; ${name} is whole again`,
  };
}

/** @throws EngineError INVALID_ARGUMENT with what there is */
function choose(what: string | undefined, { status }: FoundTopology): Chosen {
  const { packingPlan, name } = status.record;
  const ids = [containerId(0), ...(packingPlan?.containers ?? []).map(({ id }) => id)];
  if (what === undefined || what === ALL_CONTAINERS) {
    return { kind: 'containers', ids, isAll: true };
  }
  if (/^\d{1,9}$/.test(what)) {
    const id = ids.find((candidate) => candidate === Number(what));
    if (id !== undefined) return { kind: 'containers', ids: [id], isAll: false };
    const last = Math.max(...ids);
    const text = `${name} has no container ${what}; its containers are 0 to ${last}`;
    throw userError('INVALID_ARGUMENT', text);
  }
  for (const { containerId: id, processes } of status.reports) {
    const process = processes.find((candidate) => candidate.name === what);
    if (process !== undefined) return { kind: 'process', id, process };
  }
  const known = status.reports.flatMap(({ processes }) => processes.map((process) => process.name));
  const text = `${name} has no container and no process '${what}'${didYouMean(what, known)}`;
  throw userError('INVALID_ARGUMENT', text);
}

/** What is restarted at once. */
function partsOf(chosen: Chosen): readonly Chosen[] {
  if (chosen.kind === 'process') return [chosen];
  return chosen.ids.map((id) => ({ kind: 'containers', ids: [id], isAll: false }));
}

/** Others may be as broken as this one was: their turn comes. */
function onlyContainers(plan: PackingPlan, chosen: Chosen): PackingPlan {
  const ids = chosen.kind === 'containers' ? chosen.ids : [chosen.id];
  return { ...plan, containers: plan.containers.filter(({ id }) => ids.includes(id)) };
}

async function begin(chosen: Chosen, { cluster, place, status }: FoundTopology): Promise<void> {
  const { name } = status.record;
  if (chosen.kind === 'process') {
    const request = encodeRestartRequest(restartRequestOf(chosen.process));
    await cluster.stateManager.write(paths.restart(name, chosen.id), request);
    return;
  }
  const target = targetOf(place, name);
  for (const id of chosen.ids) await cluster.scheduler.restart(target, id);
}

/** For people: what the reports still show as it was before. */
function unreplacedOf(
  chosen: Chosen,
  before: readonly ContainerReport[],
  now: readonly ContainerReport[],
): string | undefined {
  if (chosen.kind === 'process') {
    const request = restartRequestOf(chosen.process);
    const isStillThere = now.some(({ processes }) =>
      processes.some((process) => isMeant(request, process)),
    );
    return isStillThere ? `another ${request.process}` : undefined;
  }
  const pidIn = (reports: readonly ContainerReport[], id: ContainerId): number | undefined =>
    reports.find((report) => report.containerId === id)?.pid;
  const id = chosen.ids.find((candidate) => {
    const pid = pidIn(now, candidate);
    return pid === undefined || pid === pidIn(before, candidate);
  });
  return id === undefined ? undefined : `the processes of container ${id}`;
}

function textOf(chosen: Chosen): string {
  if (chosen.kind === 'process') return chosen.process.name;
  return chosen.isAll ? 'every container' : `container ${chosen.ids.join()}`;
}

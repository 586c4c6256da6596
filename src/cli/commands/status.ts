import type { ProcessReport } from '../../model/container-report.ts';
import { targetOf } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { findTopology, type FoundTopology, type TopologyArguments } from '../find-topology.ts';
import { countLetters, letterFolders } from '../dead-letters/letter-files.ts';
import { isoOrNull } from '../read-status.ts';
import { type ShownStatus, statusText } from '../status-text.ts';
import { readDelivery } from '../topology-delivery.ts';
import { readErrors } from '../topology-errors.ts';
import type { UpdateProgress } from '../../model/update-progress.ts';

/** Shows how a topology is, down to its processes and why they last ended. */
export async function status(
  given: TopologyArguments,
  context: CommandContext,
): Promise<CommandResult> {
  await using found = await findTopology(given, context);
  const json = await describe(found);
  return { json, text: statusText(json, context.output) };
}

async function describe({ cluster, place, status: found }: FoundTopology): Promise<ShownStatus> {
  const { record, id, state, reports, completion, schedulerPid, sinceMs, update } = found;
  const { name, execution, damage, hasNodes, packingPlan } = record;
  const { logs, stateManager } = cluster;
  // Together, as a master that hangs is waited for.
  const [errors, delivery] = await Promise.all([
    readErrors(stateManager, found),
    readDelivery(stateManager, found),
  ]);
  return {
    name,
    id: id ?? null,
    state,
    cluster: place.cluster,
    // The record of a completed topology does not say whose it was.
    role: hasNodes ? place.role : null,
    environ: hasNodes ? place.environ : null,
    since: isoOrNull(sinceMs),
    submittedBy: execution?.submittedBy ?? null,
    engineVersion: execution?.engineVersion ?? null,
    schedulerPid: schedulerPid ?? null,
    containers: reports.map((report) => ({
      id: report.containerId,
      host: report.host,
      pid: report.pid,
      processes: report.processes.map(shownProcess),
    })),
    update:
      update === undefined
        ? null
        : { since: isoOrNull(packingPlan?.updatedAtMs), ...shownUpdate(update) },
    errors,
    delivery,
    deadLetters: await countLetters(await letterFolders(cluster, targetOf(place, name), id)),
    completion: completion ?? null,
    damage: damage.map(({ message }) => message),
    logs:
      hasNodes || completion === undefined
        ? logs.runningPath(targetOf(place, name))
        : logs.keptPath(completion.topologyId),
  };
}

function shownUpdate({ changes, ...progress }: UpdateProgress) {
  const shown = changes.map(({ component, ...sizes }) => ({
    component: component ?? null,
    ...sizes,
  }));
  return { ...progress, changes: shown };
}

function shownProcess({ name, pid, state, restarts, ...report }: ProcessReport) {
  const { startedAtMs, lastExit } = report;
  return {
    name,
    pid,
    state,
    restarts,
    startedAt: isoOrNull(startedAtMs),
    lastExit: lastExit === undefined ? null : { ...lastExit, at: isoOrNull(lastExit.atMs) },
  };
}

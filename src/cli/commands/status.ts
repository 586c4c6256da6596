import type { ProcessReport } from '../../model/container-report.ts';
import { openCluster, targetOf } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { isAt, parsePlace } from '../place.ts';
import { isoOrNull, readStatus } from '../read-status.ts';
import { statusText } from '../status-text.ts';
import {
  isElsewhere,
  notFound,
  parseTopologyName,
  placeOf,
  readTopologyRecord,
} from '../topology-record.ts';

export interface TopologyArguments {
  readonly place: string;
  readonly name: string;
}

/** Shows how a topology is, down to its processes and why they last ended. */
export async function status(
  given: TopologyArguments,
  context: CommandContext,
): Promise<CommandResult> {
  const written = parsePlace(given.place);
  const name = parseTopologyName(given.name);
  await using cluster = openCluster(written.cluster, context);
  const { stateManager, logs } = cluster;
  const found = await readTopologyRecord(stateManager, name);
  const place = placeOf(found, written, context.currentUser);
  if (!isAt(place, written)) throw isElsewhere(name, place);
  const current = await readStatus(found, place, cluster, context);
  const { record, id, state, reports, completion, schedulerPid } = current;
  if (!record.hasNodes && completion === undefined) {
    throw await notFound(stateManager, name, written);
  }
  const isGone = !record.hasNodes && completion !== undefined;
  const json = {
    name,
    id: id ?? null,
    state,
    ...place,
    since: isoOrNull(current.sinceMs),
    submittedBy: record.execution?.submittedBy ?? null,
    engineVersion: record.execution?.engineVersion ?? null,
    schedulerPid: schedulerPid ?? null,
    containers: reports.map(({ containerId, host, pid, processes }) => ({
      id: containerId,
      host,
      pid,
      processes: processes.map(processJson),
    })),
    completion: completion ?? null,
    damage: record.damage.map(({ message }) => message),
    logs: isGone ? logs.keptPath(completion.topologyId) : logs.runningPath(targetOf(place, name)),
  };
  return { json, text: statusText(json, context.output) };
}

function processJson({ name, pid, state, restarts, startedAtMs, lastExit }: ProcessReport) {
  return {
    name,
    pid,
    state,
    restarts,
    startedAt: isoOrNull(startedAtMs),
    lastExit:
      lastExit === undefined ? null : { ...lastExit, at: isoOrNull(lastExit.atMs) },
  };
}

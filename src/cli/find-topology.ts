import { type Cluster, openCluster } from './cluster.ts';
import type { CommandContext } from './command-context.ts';
import { isAt, parsePlace, type Place } from './place.ts';
import { readStatus, type TopologyStatus } from './read-status.ts';
import {
  isElsewhere,
  notFound,
  parseTopologyName,
  placeOf,
  readTopologyRecord,
} from './topology-record.ts';

/** How commands name a topology. */
export interface TopologyArguments {
  readonly place: string;
  readonly name: string;
}

export interface FoundTopology extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly place: Place;
  readonly status: TopologyStatus;
}

/**
 * Finds a topology that runs, is half dead or has completed; helps its scheduler first.
 *
 * @throws EngineError INVALID_ARGUMENT or TOPOLOGY_NOT_FOUND
 */
export async function findTopology(
  given: TopologyArguments,
  context: CommandContext,
): Promise<FoundTopology> {
  const written = parsePlace(given.place);
  const name = parseTopologyName(given.name);
  const cluster = await openCluster(written.cluster, context);
  try {
    const record = await readTopologyRecord(cluster.stateManager, name);
    const place = placeOf(record, written, context.currentUser);
    if (!isAt(place, written)) throw isElsewhere(name, place);
    const status = await readStatus(record, place, cluster, context);
    const isThere = status.record.hasNodes || status.completion !== undefined;
    if (!isThere) throw await notFound(cluster.stateManager, name, written);
    return { cluster, place, status, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
}

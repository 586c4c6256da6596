import { topologyName } from '../../base/ids.ts';
import { paths } from '../../state-manager/paths.ts';
import { type Cluster, openCluster } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { isAt, parsePlace, placeText, type WrittenPlace } from '../place.ts';
import { isoOrNull, readStatus } from '../read-status.ts';
import { textTable } from '../text-table.ts';
import { placeOf, readTopologyRecord } from '../topology-record.ts';

interface ListedTopology {
  readonly name: string;
  readonly id: string | null;
  readonly state: string;
  readonly cluster: string;
  /** Null for a completed topology, whose record does not say. */
  readonly role: string | null;
  readonly environ: string | null;
  readonly since: string | null;
}

/** What runs at a place, and what has completed there and is still remembered. */
export async function list(
  given: { readonly place: string },
  context: CommandContext,
): Promise<CommandResult> {
  const written = parsePlace(given.place);
  await using cluster = await openCluster(written.cluster, context);
  const { stateManager } = cluster;
  const names = new Set([
    ...(await stateManager.list(paths.topologies)),
    ...(await stateManager.list(paths.executionStates)),
    ...(await stateManager.list(paths.completedTopologies)),
  ]);
  const topologies: ListedTopology[] = [];
  for (const name of [...names].toSorted()) {
    const listed = await describe(name, written, cluster, context);
    if (listed !== undefined) topologies.push(listed);
  }
  return { json: { topologies }, text: textOf(topologies, given.place, context) };
}

async function describe(
  name: string,
  written: WrittenPlace,
  cluster: Cluster,
  context: CommandContext,
): Promise<ListedTopology | undefined> {
  const found = await readTopologyRecord(cluster.stateManager, topologyName(name));
  const owner = placeOf(found, written, context.currentUser);
  if (!isAt(owner, written)) return undefined;
  const { record, id, state, sinceMs } = await readStatus(found, owner, cluster, context);
  if (!record.hasNodes && record.completion === undefined) return undefined;
  return {
    name,
    id: id ?? null,
    state,
    cluster: cluster.name,
    role: record.execution?.role ?? null,
    environ: record.execution?.environ ?? null,
    since: isoOrNull(sinceMs),
  };
}

function textOf(
  topologies: readonly ListedTopology[],
  place: string,
  { output }: CommandContext,
): string {
  if (topologies.length === 0) return `there are no topologies in ${place}`;
  const rows = topologies.map(({ name, state, cluster, role, environ, since }) => [
    name,
    state,
    role === null || environ === null ? cluster : placeText({ cluster, role, environ }),
    since ?? '',
  ]);
  return textTable(['NAME', 'STATE', 'PLACE', 'SINCE'], rows, output);
}

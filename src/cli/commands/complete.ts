import { EngineError } from '../../base/errors.ts';
import { type TopologyName, topologyName } from '../../base/ids.ts';
import { knownClusters } from '../../config/cluster-settings.ts';
import { parseContainerReport } from '../../model/container-report.ts';
import { paths } from '../../state-manager/paths.ts';
import type { StateManager } from '../../state-manager/state-manager.ts';
import { type Cluster, openClusterAt, targetOf } from '../cluster.ts';
import { stateAddressOf } from '../cluster-state.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import type { Wanted } from '../completion/wanted.ts';
import { letterFolders, readLetterFiles } from '../dead-letters/letter-files.ts';
import { isAt, parsePlace, placeText, type WrittenPlace } from '../place.ts';
import { parseTopologyName, placeOf, readTopologyRecord } from '../topology-record.ts';

/** A state store that has not answered by then offers nothing. */
const STATE_LIMIT_MS = 1_000;

/** What a shell offers at Tab. Only reads, and offers nothing where it cannot. */
export async function complete(
  wanted: Wanted,
  current: string,
  context: CommandContext,
): Promise<CommandResult> {
  const known = await candidatesOf(wanted, context).catch((error: unknown) => {
    if (error instanceof EngineError) return [];
    throw error;
  });
  const words = known.filter((word) => word.startsWith(current));
  return { json: { words }, text: words.join('\n') };
}

async function candidatesOf(wanted: Wanted, context: CommandContext): Promise<readonly string[]> {
  switch (wanted.kind) {
    case 'words':
      return wanted.words;
    case 'file':
      return [];
    case 'place': {
      const clusters = await knownClusters(context.configRoot);
      const found = await Promise.all(clusters.map((cluster) => placesIn(cluster, context)));
      return [...new Set([...clusters, ...found.flat()])].toSorted();
    }
    case 'topology': {
      const written = parsePlace(wanted.place);
      const found = await topologiesOf(written.cluster, context);
      return found.filter(({ place }) => isAt(place, written)).map(({ name }) => name);
    }
    case 'part': {
      const { cluster } = parsePlace(wanted.place);
      await using opened = await openBriefly(cluster, context);
      return await partsOf(opened.stateManager, parseTopologyName(wanted.topology));
    }
    case 'letter':
      return await lettersOf(parsePlace(wanted.place), parseTopologyName(wanted.topology), context);
  }
}

/** Nothing of a cluster that cannot be looked at: the others are still worth an offer. */
async function placesIn(cluster: string, context: CommandContext): Promise<readonly string[]> {
  try {
    const found = await topologiesOf(cluster, context);
    return found.map(({ place }) => placeText(place));
  } catch (error) {
    if (error instanceof EngineError) return [];
    throw error;
  }
}

/** Nobody waits long after Tab. */
async function openBriefly(name: string, context: CommandContext): Promise<Cluster> {
  const state = await stateAddressOf(name, context);
  const brief = state.kind === 'file' ? state : { ...state, connectionTimeoutMs: STATE_LIMIT_MS };
  return openClusterAt(brief, name, context);
}

async function topologiesOf(name: string, context: CommandContext) {
  await using cluster = await openBriefly(name, context);
  const { stateManager } = cluster;
  const names = await stateManager.list(paths.topologies);
  return await Promise.all(
    names.map(async (found) => {
      const record = await readTopologyRecord(stateManager, topologyName(found));
      return { name: found, place: placeOf(record, { cluster: name }, context.currentUser) };
    }),
  );
}

async function lettersOf(
  written: WrittenPlace,
  name: TopologyName,
  context: CommandContext,
): Promise<readonly string[]> {
  await using cluster = await openBriefly(written.cluster, context);
  const record = await readTopologyRecord(cluster.stateManager, name);
  const target = targetOf(placeOf(record, written, context.currentUser), name);
  const id = record.completion?.topologyId;
  const files = await readLetterFiles(await letterFolders(cluster, target, id));
  return files.flatMap(({ letters }) => letters.map((letter) => letter.id));
}

async function partsOf(stateManager: StateManager, name: TopologyName): Promise<readonly string[]> {
  const folder = paths.containers(name);
  const containers = await stateManager.list(folder);
  const nodes = await Promise.all(containers.map((id) => stateManager.read(`${folder}/${id}`)));
  const processes = nodes.flatMap((bytes) =>
    bytes === undefined ? [] : parseContainerReport(bytes).processes.map((process) => process.name),
  );
  return [...containers, ...processes];
}

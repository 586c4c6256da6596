import { homedir } from 'node:os';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, userError } from '../../base/errors.ts';
import { systemFiles } from '../../base/system-files.ts';
import { knownClusters } from '../../config/cluster-settings.ts';
import { tcpNetwork } from '../../net/tcp-network.ts';
import { createStateManager } from '../../state-manager/create.ts';
import {
  parseStateAddress,
  type StateAddress,
  stateAddressText,
  zooKeeperAddress,
} from '../../state-manager/state-address.ts';
import type { LinkTemplate } from '../../tracker/extra-links.ts';
import type { TrackedCluster } from '../../tracker/state/tracked-cluster.ts';
import { systemProcessTable } from '../../supervision/system-process-table.ts';
import { stateAddressOf } from '../cluster-state.ts';
import type { CommandContext } from '../command-context.ts';
import { readTrackerFile, type StateStoreEntry } from './tracker-yaml.ts';

/*
  Which clusters `heron tracker` looks at, in this order:

    --type, --rootpath, …    the one store that they name, as with Heron's Tracker
    statemgrs of a file      --config-file, else heron_tracker.yaml beside the clusters' settings
    otherwise                all clusters that this machine has settings for, and `local`
*/

/** What the command line says; all of it is Heron's. */
export interface TrackedChoice {
  readonly configFile: string | undefined;
  readonly type: 'file' | 'zookeeper' | undefined;
  readonly name: string | undefined;
  readonly rootpath: string | undefined;
  readonly hostport: string | undefined;
}

export interface TrackedClusters extends AsyncDisposable {
  readonly clusters: readonly TrackedCluster[];
  readonly links: readonly LinkTemplate[];
}

/** @throws EngineError INVALID_ARGUMENT, INVALID_CONFIG */
export async function openTrackedClusters(
  choice: TrackedChoice,
  context: CommandContext,
): Promise<TrackedClusters> {
  const { configRoot } = context;
  const standing = join(configRoot, 'heron_tracker.yaml');
  const path = choice.configFile ?? (existsSync(standing) ? standing : undefined);
  const file = path === undefined ? { stores: undefined, links: [] } : await readTrackerFile(path);
  const named = entryOf(choice);
  const stores = named === undefined ? file.stores : [named];
  const clusters =
    stores === undefined
      ? await Promise.all(
          (await knownClusters(configRoot)).map((name) =>
            tracked(name, () => stateAddressOf(name, context), context),
          ),
        )
      : await Promise.all(
          stores.map((store) => tracked(store.name, () => addressIn(store), context)),
        );
  return {
    clusters,
    links: file.links,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(clusters.map(async ({ stateManager }) => stateManager?.close()));
    },
  };
}

function entryOf(choice: TrackedChoice): StateStoreEntry | undefined {
  const { type, name = 'local', rootpath, hostport } = choice;
  const given = [choice.name, rootpath, hostport].some((value) => value !== undefined);
  if (type === undefined) {
    if (!given) return undefined;
    throw userError('INVALID_ARGUMENT', '--name, --rootpath and --hostport belong to --type');
  }
  if (rootpath === undefined) {
    throw userError('INVALID_ARGUMENT', `--rootpath is missing beside --type ${type}`);
  }
  return { type, name, rootpath, hostport: hostport ?? null };
}

function addressIn({ type, name, rootpath, hostport }: StateStoreEntry): StateAddress {
  const root = rootpath
    .replace(/^~(?=\/|$)/, homedir())
    .replaceAll('${HOME}', homedir())
    .replaceAll('${CLUSTER}', name);
  if (type === 'file') return parseStateAddress(`file://${encodeURI(root)}`);
  const hosts = hostport ?? 'localhost:2181';
  return zooKeeperAddress({ text: hosts, hosts, root, options: new Map() });
}

/** One whose settings are wrong is shown as such, beside the others. */
async function tracked(
  name: string,
  addressOf: () => StateAddress | Promise<StateAddress>,
  context: CommandContext,
): Promise<TrackedCluster> {
  try {
    const address = await addressOf();
    const { clock, random, logger, variables } = context;
    const stateManager = createStateManager(address, {
      clock,
      random,
      logger,
      files: systemFiles,
      processes: systemProcessTable,
      network: tcpNetwork,
      variables,
    });
    const following = address.kind === 'file' ? 'looks' : 'watches';
    return { name, address: stateAddressText(address), stateManager, following };
  } catch (error) {
    const problem = messageOf(error);
    return { name, address: '', stateManager: undefined, problem, following: 'looks' };
  }
}

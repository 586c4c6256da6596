import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, userError } from '../base/errors.ts';
import { Settings } from '../model/settings.ts';
import { isStateSetting } from '../model/state-settings.ts';
import { checkEntries } from './check-entries.ts';
import { readConfigEntries } from './config-files.ts';
import { type ConfigEntry, textsOf } from './config-layer.ts';
import { type ConfigSources, invalidConfig } from './config-layers.ts';
import { environmentLayer } from './environment-layer.ts';

/*
  Which clusters there are, and what commands need to know before they can look at one. Whatever
  else is wrong in a cluster's files keeps nobody from killing a topology there.
*/

/** Always there, with its state in files of this machine unless its settings say otherwise. */
export const LOCAL_CLUSTER = 'local';

/** What may be a cluster's name: it is the name of folders, and of nothing hidden. */
export const CLUSTER_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,99}$/;

/** Every folder with settings is one. Sorted. */
export async function knownClusters(configRoot: string): Promise<readonly string[]> {
  const folders = await foldersIn(configRoot);
  return [...new Set([LOCAL_CLUSTER, ...folders])].toSorted();
}

async function foldersIn(configRoot: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(configRoot, { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink());
    return folders.map(({ name }) => name).filter((name) => CLUSTER_NAME.test(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw userError('INVALID_CONFIG', `${configRoot}: ${messageOf(error)}`, error);
  }
}

/** What a cluster's files and the environment say of its state store. */
export interface ClusterSettings {
  readonly settings: Settings;
  /** Where each of them stands. */
  readonly entries: ReadonlyMap<string, ConfigEntry>;
}

/** @throws EngineError INVALID_CONFIG with what is wrong, and where it stands. */
export async function readClusterSettings(
  sources: Omit<ConfigSources, 'properties'>,
): Promise<ClusterSettings> {
  const files = await readConfigEntries(join(sources.configRoot, sources.cluster));
  const environment = environmentLayer(sources.variables);
  const all = [...files.entries, ...environment.entries];
  const { entries, problems } = checkEntries(new Map(all.filter(([key]) => isStateSetting(key))));
  const wrong = [...files.problems, ...problems];
  if (wrong.length > 0) throw invalidConfig(wrong);
  return { settings: new Settings(textsOf(entries)), entries };
}

import { homedir } from 'node:os';
import { join } from 'node:path';
import { hasCode, userError } from '../base/errors.ts';
import { type ClusterSettings, readClusterSettings } from '../config/cluster-settings.ts';
import { HERON_FILE_CLASS, HERON_ZOOKEEPER_CLASS } from '../model/state-settings.ts';
import {
  parseStateAddress,
  type StateAddress,
  ZOOKEEPER_OPTIONS,
  type ZooKeeperOption,
  zooKeeperAddress,
} from '../state-manager/state-address.ts';
import type { CommandContext } from './command-context.ts';

/*
  Where a cluster's state tree is, by its settings. `heron.statemgr.address` is the short way; the
  three of Heron's statemgr.yaml mean the same, so that such a file can be used as it is:

    class                          connection string    root path
    …CuratorStateManager           host:2181,host:2181  node in ZooKeeper, /heron
    …LocalFileSystemStateManager   LOCALMODE            folder

  The class follows from the connection string where it is not given. Without any of them the tree
  is in the data root of this machine.
*/

const ADDRESS = 'heron.statemgr.address';
const CLASS = 'heron.class.state.manager';
const CONNECTION = 'heron.statemgr.connection.string';
const ROOT = 'heron.statemgr.root.path';
const LOCAL_MODE = 'LOCALMODE';

type StateContext = Pick<CommandContext, 'dataRoot' | 'configRoot' | 'variables'>;

/** @throws EngineError INVALID_CONFIG with the setting that is wrong, and where it stands. */
export async function stateAddressOf(
  cluster: string,
  context: StateContext,
): Promise<StateAddress> {
  const written = new WrittenState(cluster, await readClusterSettings({ ...context, cluster }));
  const address = written.text(ADDRESS);
  const herons = [CLASS, CONNECTION, ROOT].filter((key) => written.text(key) !== undefined);
  if (address !== undefined) {
    const [contradiction] = herons;
    if (contradiction !== undefined) {
      throw written.wrong(
        contradiction,
        `it cannot stand beside ${ADDRESS}; remove one of the two`,
      );
    }
    return written.naming(ADDRESS, () => parseStateAddress(address, written.options()));
  }
  if (herons.length > 0) return heronAddress(written);
  return { kind: 'file', folder: join(context.dataRoot, 'repository', 'state', cluster) };
}

function heronAddress(written: WrittenState): StateAddress {
  const connection = written.text(CONNECTION) ?? LOCAL_MODE;
  const root = written.text(ROOT);
  const isFile = connection === LOCAL_MODE;
  const kind = written.text(CLASS);
  if (kind !== undefined && kind !== (isFile ? HERON_FILE_CLASS : HERON_ZOOKEEPER_CLASS)) {
    const wanted = isFile ? "one of ZooKeeper's servers" : LOCAL_MODE;
    throw written.wrong(CLASS, `${CONNECTION} has to be ${wanted}, then`);
  }
  if (root === undefined) throw written.wrong(CONNECTION, `${ROOT} is missing beside it`);
  return written.naming(isFile ? ROOT : CONNECTION, () =>
    isFile
      ? parseStateAddress(`file://${encodeURI(root)}`)
      : zooKeeperAddress({ text: connection, hosts: connection, root, options: written.options() }),
  );
}

/** Settings as they were written, with what may be left out of them filled in. */
class WrittenState {
  readonly #cluster: string;
  readonly #settings: ClusterSettings;

  constructor(cluster: string, settings: ClusterSettings) {
    this.#cluster = cluster;
    this.#settings = settings;
  }

  /** `~/`, `${HOME}` and `${CLUSTER}` are what Heron's own files have in them. */
  text(key: string): string | undefined {
    const text = this.#settings.settings.text(key)?.trim();
    const filled = text
      ?.replace(/^~(?=\/|$)/, homedir())
      .replaceAll('${HOME}', homedir())
      .replaceAll('${CLUSTER}', this.#cluster);
    const [unknown] = /\$\{\w*\}/.exec(filled ?? '') ?? [];
    if (unknown === undefined) return filled;
    throw this.wrong(key, `there is no value for ${unknown}; only for \${HOME} and \${CLUSTER}`);
  }

  options(): ReadonlyMap<ZooKeeperOption, string> {
    const options = new Map<ZooKeeperOption, string>();
    for (const option of ZOOKEEPER_OPTIONS) {
      const text = this.text(`heron.statemgr.zookeeper.${option}`);
      if (text !== undefined) options.set(option, text);
    }
    return options;
  }

  wrong(key: string, why: string) {
    return userError(
      'INVALID_CONFIG',
      `${this.#settings.entries.get(key)?.origin}: ${key}: ${why}`,
    );
  }

  /** Runs what refuses a setting's text, and says which setting it was. */
  naming<Result>(key: string, parse: () => Result): Result {
    try {
      return parse();
    } catch (error) {
      throw hasCode(error, 'INVALID_ARGUMENT') ? this.wrong(key, error.message) : error;
    }
  }
}

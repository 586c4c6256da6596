import { milliseconds, note, optional } from './setting.ts';
import { boolean, nonEmptyText, oneOf, type SettingType } from './setting-types.ts';

/*
  Where a cluster keeps its state tree. These belong to a cluster, not to a topology: commands read
  them from the cluster's files and the environment, and hand the address to the processes. They are
  not stored with a topology.

  Heron's three (class, connection string, root path) say the same as the one address.
*/

export const HERON_ZOOKEEPER_CLASS =
  'org.apache.heron.statemgr.zookeeper.curator.CuratorStateManager';
export const HERON_FILE_CLASS = 'org.apache.heron.statemgr.localfs.LocalFileSystemStateManager';

/** Whether it is one is for the state manager to say, which knows how they are written. */
const address: SettingType<string> = {
  expected: "an address that begins with 'file:///' or 'zookeeper://'",
  parse: (text) => (/^(file:\/\/\/|zookeeper:\/\/)/.test(text) ? text : undefined),
};

export const STATE_SETTINGS = {
  'heron.statemgr.address': optional(
    address,
    undefined,
    'The state tree: file:///folder, or zookeeper://host:2181,host:2181/root. A folder below ' +
      'HERON_DATA unless set.',
  ),
  'heron.class.state.manager': optional(
    oneOf(HERON_ZOOKEEPER_CLASS, HERON_FILE_CLASS),
    undefined,
    "Heron's way to say which kind of address the next two are.",
  ),
  'heron.statemgr.connection.string': optional(
    nonEmptyText,
    undefined,
    "Heron's way to name ZooKeeper's servers: host:2181,host:2181; LOCALMODE for files.",
  ),
  'heron.statemgr.root.path': optional(
    nonEmptyText,
    undefined,
    "Heron's way to name the root in ZooKeeper, or the folder; ${HOME} and ${CLUSTER} are " +
      'filled in.',
  ),
  'heron.statemgr.zookeeper.session.timeout.ms': milliseconds(
    30_000,
    'How long the servers remember a process that they do not hear of.',
  ),
  'heron.statemgr.zookeeper.connection.timeout.ms': milliseconds(
    10_000,
    'How long a call waits for a server before it fails: longer than servers take to elect a ' +
      'leader, shorter than people want to wait for the word that the store is away; what has to ' +
      'be written is tried again. Heron waits 30000, as long as a session lives.',
  ),
  'heron.statemgr.zookeeper.digest.file': note(
    'File with user:password on one line, read by every process; nodes are for that user alone.',
  ),
  'heron.statemgr.zookeeper.tls': optional(
    boolean,
    undefined,
    'Whether connections are encrypted; the files below mean yes.',
  ),
  'heron.statemgr.zookeeper.tls.ca.file': note(
    "PEM file of who vouches for the servers; the platform's own list unless set.",
  ),
  'heron.statemgr.zookeeper.tls.certificate.file': note('PEM file of what a client shows.'),
  'heron.statemgr.zookeeper.tls.key.file': note('PEM file of the key that belongs to it.'),
  'heron.statemgr.zookeeper.tls.server.name': note(
    "The name in the servers' certificates, where it is not their host's.",
  ),
} as const;

export type StateSettingKey = keyof typeof STATE_SETTINGS;

export function isStateSetting(key: string): key is StateSettingKey {
  return Object.hasOwn(STATE_SETTINGS, key);
}

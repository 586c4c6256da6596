import type { ProcessIdentities } from '../../base/process-identities.ts';
import { parseIdentity, type ProcessIdentity } from '../../base/process-identity.ts';
import type { NodeStat } from './node-records.ts';
import { absentAs, createNode, nodePath } from './tree-access.ts';
import type { ZooKeeperClient } from './zookeeper-client.ts';
import { hasReason } from './zookeeper-error.ts';

/*
  Who owns an ephemeral node. ZooKeeper removes one when its session runs out, which takes as long
  as the session's time-out after a process was killed. But a process of the same machine knows at
  once that the owner is dead (S2), so that a killed topology master is replaced in a second, not in
  half a minute. Heron's bytes in the node have no room for this, therefore a second ephemeral node
  stands beside it:

    .heron-ts/owners/<session, hexadecimal>~<path, percent-encoded>    { bootId, pid, startTicks }

  W1. A record is there before its node is, and is of the same session. It may be there alone.
  W2. A node that a dead owner left goes together with its record, in one transaction, so it can be
      removed only once: whoever comes later does not meet the next owner's node.
  W3. Only processes that see each other judge each other (same boot, same pid namespace); nodes of
      others, and nodes without a record, live as long as their session.
*/

const FOLDER = '.heron-ts/owners';

/** True for the paths of these records, which are nobody's nodes. */
export function isOwnerRecord(path: string): boolean {
  return path === FOLDER || path.startsWith(`${FOLDER}/`);
}

export class OwnerRecords {
  readonly #processes: ProcessIdentities;

  constructor(processes: ProcessIdentities) {
    this.#processes = processes;
  }

  /** W1: called before the node is made. */
  async add(client: ZooKeeperClient, path: string): Promise<void> {
    const bytes = Buffer.from(JSON.stringify(this.#processes.own()));
    // A session has its number from the first answer on.
    if (client.sessionId === 0n) await client.exists(nodePath(path));
    const record = recordPath(path, client.sessionId);
    try {
      await createNode(client, record, { bytes, mode: 'ephemeral' });
    } catch (error) {
      // It is of our own session: the node went, and is made again.
      if (!hasReason(error, 'NODE_EXISTS')) throw error;
    }
  }

  /** The process that holds a node, when it is another one that can be judged from here (W3). */
  async judgeableOwner(
    client: ZooKeeperClient,
    path: string,
    { ephemeralOwner }: NodeStat,
  ): Promise<ProcessIdentity | undefined> {
    if (ephemeralOwner === 0n || ephemeralOwner === client.sessionId) return undefined;
    const record = nodePath(recordPath(path, ephemeralOwner));
    const found = await absentAs(undefined, client.getData(record));
    const identity = found === undefined ? undefined : parseRecord(found.data);
    const { bootId } = this.#processes.own();
    return bootId !== '' && identity?.bootId === bootId ? identity : undefined;
  }

  isDead(owner: ProcessIdentity): boolean {
    return !this.#processes.isAlive(owner);
  }

  /** Whether a node is there only because its dead owner's session has not run out yet. */
  async isLeftOver(client: ZooKeeperClient, path: string, stat: NodeStat): Promise<boolean> {
    const owner = await this.judgeableOwner(client, path, stat);
    return owner !== undefined && this.isDead(owner);
  }

  /** Removes a node with its owner's record (W2); does nothing when one of them has gone. */
  async removeWithNode(client: ZooKeeperClient, path: string, stat: NodeStat): Promise<void> {
    try {
      await client.multi([
        { kind: 'delete', path: nodePath(recordPath(path, stat.ephemeralOwner)) },
        { kind: 'delete', path: nodePath(path), version: stat.version },
      ]);
    } catch (error) {
      if (!hasReason(error, 'NO_NODE', 'BAD_VERSION')) throw error;
    }
  }

  /** Names in a folder that dead owners left. */
  async leftOversIn(client: ZooKeeperClient, folder: string): Promise<ReadonlySet<string>> {
    const names = await absentAs([], client.getChildren(nodePath(FOLDER)));
    const leftOvers = new Set<string>();
    for (const path of new Set(names.map(pathOfRecord))) {
      if (path === undefined || !isRightBelow(path, folder)) continue;
      const stat = await client.exists(nodePath(path));
      if (stat === undefined || !(await this.isLeftOver(client, path, stat))) continue;
      leftOvers.add(path.slice(folder.length + 1));
    }
    return leftOvers;
  }
}

function recordPath(path: string, session: bigint): string {
  const name = BigInt.asUintN(64, session).toString(16);
  return `${FOLDER}/${name}~${encodeURIComponent(path)}`;
}

/** Undefined for what somebody else has put there. */
function pathOfRecord(name: string): string | undefined {
  const [, encoded] = /^[0-9a-f]{1,16}~(.+)$/.exec(name) ?? [];
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    return undefined; // Not our encoding.
  }
}

function isRightBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`) && !path.slice(folder.length + 1).includes('/');
}

function parseRecord(bytes: Uint8Array): ProcessIdentity | undefined {
  try {
    return parseIdentity(JSON.parse(Buffer.from(bytes).toString()));
  } catch {
    return undefined; // W3: it names nobody that could be judged.
  }
}

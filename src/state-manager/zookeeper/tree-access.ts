import { hasReason } from './zookeeper-error.ts';
import type { NodeData, NodeMode } from './node-records.ts';
import type { ZooKeeperClient } from './zookeeper-client.ts';

/*
  What a tree of nodes needs beyond single requests. Paths are those of the state tree, without the
  slash that ZooKeeper's begin with.
*/

/** A folder may go between the moment that it is made and its first node, as often as this. */
const FOLDER_ATTEMPTS_MAX = 10;

export function nodePath(path: string): string {
  return `/${path}`;
}

/** The node as it is now: what any process wrote before, on whichever server, is seen. */
export async function readNode(
  client: ZooKeeperClient,
  path: string,
): Promise<NodeData | undefined> {
  // Both at once: a server answers the second only when it has caught up with the first.
  const [, found] = await Promise.all([
    client.sync(nodePath(path)),
    absentAs(undefined, client.getData(nodePath(path))),
  ]);
  return found;
}

/** Makes a node, and the folders above it where they are missing. */
export async function createNode(
  client: ZooKeeperClient,
  path: string,
  node: { readonly bytes: Uint8Array; readonly mode: NodeMode },
): Promise<void> {
  const { bytes, mode } = node;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.create(nodePath(path), bytes, { mode });
      return;
    } catch (error) {
      if (!hasReason(error, 'NO_NODE') || attempt === FOLDER_ATTEMPTS_MAX) throw error;
      await makeFolders(client, path);
    }
  }
}

/** Resolves with `value` when there is no such node. */
export async function absentAs<Result, Value>(
  value: Value,
  request: Promise<Result>,
): Promise<Result | Value> {
  try {
    return await request;
  } catch (error) {
    if (hasReason(error, 'NO_NODE')) return value;
    throw error;
  }
}

/** They are persistent and empty, as Heron's are. */
async function makeFolders(client: ZooKeeperClient, path: string): Promise<void> {
  await client.createChroot();
  const folders = path.split('/').slice(0, -1);
  for (const [index] of folders.entries()) {
    const folder = folders.slice(0, index + 1).join('/');
    try {
      await client.create(nodePath(folder), new Uint8Array());
    } catch (error) {
      if (!hasReason(error, 'NODE_EXISTS')) throw error;
    }
  }
}

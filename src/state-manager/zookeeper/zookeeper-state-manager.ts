import { dirname } from 'node:path';
import { environmentError, userError } from '../../base/errors.ts';
import { type Epoch, epoch, type TopologyId } from '../../base/ids.ts';
import type { StateManagerChoice, StateManagerPorts } from '../state-manager-ports.ts';
import { encodeEpoch, epochAfter } from '../epoch-counter.ts';
import { checkNodePath, isStandingFolder } from '../node-path.ts';
import { paths } from '../paths.ts';
import { sameBytes } from '../same-bytes.ts';
import type { ZooKeeperStateAddress } from '../state-address.ts';
import type { StateManager, Watch } from '../state-manager.ts';
import { TaskQueues } from '../task-queues.ts';
import { NodeFollower } from './node-follower.ts';
import type { NodeData, NodeMode } from './node-records.ts';
import { isOwnerRecord, OwnerRecords } from './owner-records.ts';
import { type Attempt, SessionKeeper, type SessionWork } from './session-keeper.ts';
import { stateFailure } from './state-failure.ts';
import { absentAs, createNode, nodePath, readNode } from './tree-access.ts';
import type { ZooKeeperClient } from './zookeeper-client.ts';
import { hasReason } from './zookeeper-error.ts';

/** A server that says nothing must not use up the time that its process has for its end. */
const CLOSE_LIMIT_MS = 2_000;

export interface ZooKeeperStateManagerOptions extends StateManagerPorts, StateManagerChoice {
  readonly address: ZooKeeperStateAddress;
}

/*
  A state tree in ZooKeeper, shared by processes of all machines: Heron's nodes at Heron's paths
  with Heron's bytes, ours below `.heron-ts/`. Folders are persistent nodes without data.

  M1. Changes of one node by one manager happen in the order of the calls, each as one `#change`.
  M2. Where a connection broke with a change under way, the node itself says whether it was made: by
      its session for an ephemeral one, else by its bytes.
  M3. Reads follow a `sync`: they see what anybody wrote before, on whichever server. Watches need
      none (node-follower.ts).
  M4. A replacement names the version that was read. Versions begin again with a node that is made
      anew, so a change that finds itself without a connection reads again (K2) rather than wait
      with a version in hand.
*/
export class ZooKeeperStateManager implements StateManager {
  readonly #options: ZooKeeperStateManagerOptions;
  readonly #owners: OwnerRecords;
  readonly #sessions: SessionKeeper;
  readonly #queues = new TaskQueues();
  readonly #followers = new Set<NodeFollower>();
  /** Paths of the ephemeral nodes that were made here and not deleted. */
  readonly #held = new Set<string>();
  #closing: Promise<void> | undefined;

  constructor(options: ZooKeeperStateManagerOptions) {
    this.#options = options;
    this.#owners = new OwnerRecords(options.processes);
    this.#sessions = new SessionKeeper({
      ...options,
      losesNodes: () => options.endsWithLostNodes === true && this.#held.size > 0,
      onConnected: () => {
        for (const follower of this.#followers) follower.wake();
      },
    });
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    this.#check(path);
    return this.#failing('read', path, () =>
      this.#sessions.run(this.#sessions.deadlineMs(), async (client) => {
        const found = await readNode(client, path);
        if (found === undefined) return undefined;
        const isLeftOver = await this.#owners.isLeftOver(client, path, found.stat);
        return isLeftOver ? undefined : new Uint8Array(found.data);
      }),
    );
  }

  async create(
    path: string,
    bytes: Uint8Array,
    options: { readonly ephemeral?: boolean } = {},
  ): Promise<void> {
    const isEphemeral = options.ephemeral ?? false;
    const node = { bytes: bytes.slice(), mode: isEphemeral ? 'ephemeral' : 'persistent' } as const;
    await this.#change(path, async (client, attempt) => {
      if (isEphemeral) await this.#owners.add(client, path);
      while (!(await this.#tryCreate(client, path, { ...node, attempt })));
      if (isEphemeral) this.#held.add(path);
    });
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    const written = bytes.slice();
    await this.#change(path, async (client) => {
      while (!(await this.#tryWrite(client, path, written)));
    });
  }

  async replace(path: string, expected: Uint8Array | undefined, bytes: Uint8Array): Promise<void> {
    const [before, after] = [expected?.slice(), bytes.slice()];
    await this.#change(path, async (client, attempt) => {
      const decide = (current: Uint8Array | undefined): Uint8Array | undefined => {
        if (sameBytes(current, before)) return after;
        if (attempt.mayBeDone && sameBytes(current, after)) return undefined; // M2.
        throw environmentError('STATE_CONFLICT', `the node ${path} was changed by someone else`);
      };
      while (!(await this.#tryReplace(client, path, { attempt, decide })));
    });
  }

  async delete(path: string): Promise<void> {
    await this.#change(path, async (client) => {
      await client.sync(nodePath(path));
      const stat = await client.exists(nodePath(path));
      if (stat !== undefined && stat.ephemeralOwner !== 0n) {
        await this.#owners.removeWithNode(client, path, stat);
      }
      await absentAs(undefined, client.delete(nodePath(path)));
      this.#held.delete(path);
      await removeEmptyFolder(client, dirname(path));
    });
  }

  async list(folder: string): Promise<readonly string[]> {
    this.#check(folder);
    return this.#failing('read', folder, () =>
      this.#sessions.run(this.#sessions.deadlineMs(), async (client) => {
        const [, names, leftOvers] = await Promise.all([
          client.sync(nodePath(folder)),
          absentAs([], client.getChildren(nodePath(folder))),
          this.#owners.leftOversIn(client, folder),
        ]);
        return names.filter((name) => !leftOvers.has(name)).toSorted();
      }),
    );
  }

  watch(path: string, onValue: (bytes: Uint8Array | undefined) => void): Watch {
    this.#check(path);
    const { clock, logger } = this.#options;
    const follower = new NodeFollower({
      path,
      onValue,
      owners: this.#owners,
      clock,
      logger,
      run: (look) => this.#failing('read', path, () => this.#sessions.look(look)),
    });
    this.#followers.add(follower);
    return {
      close: () => {
        follower.close();
        this.#followers.delete(follower);
      },
    };
  }

  async nextEpoch(topology: TopologyId): Promise<Epoch> {
    const path = paths.epoch(topology);
    let next = epoch(0);
    await this.#change(path, async (client, attempt) => {
      // After a broken connection the number may have been taken: one is left out then.
      const decide = (current: Uint8Array | undefined): Uint8Array => {
        next = epochAfter(current);
        return encodeEpoch(next);
      };
      while (!(await this.#tryReplace(client, path, { attempt, decide })));
    });
    return next;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const follower of this.#followers) follower.close();
    this.#followers.clear();
    await this.#lastChanges();
    await this.#sessions.close();
  }

  /** Settles when they are made; away from the servers there is no use in waiting for it. */
  #lastChanges(): Promise<void> {
    return new Promise((resolve) => {
      const limit = this.#options.clock.after(CLOSE_LIMIT_MS, resolve);
      const ends = [this.#queues.settled(), this.#sessions.hopeless()];
      void Promise.race(ends).then(() => {
        limit.cancel();
        resolve();
        return undefined;
      });
    });
  }

  /** True when it is there and ours; false: it was in the way, and is not any more. */
  async #tryCreate(
    client: ZooKeeperClient,
    path: string,
    node: { readonly bytes: Uint8Array; readonly mode: NodeMode; readonly attempt: Attempt },
  ): Promise<boolean> {
    const { attempt, mode, bytes } = node;
    try {
      await attempt.decisive(createNode(client, path, node));
      return true;
    } catch (error) {
      if (!hasReason(error, 'NODE_EXISTS')) throw error;
    }
    const there = await readNode(client, path);
    if (there === undefined) return false;
    const isOurs =
      mode === 'ephemeral'
        ? there.stat.ephemeralOwner === client.sessionId
        : sameBytes(there.data, bytes);
    if (attempt.mayBeDone && isOurs) return true; // M2.
    if (await this.#removeLeftOver(client, path, there)) return false;
    throw environmentError('STATE_EXISTS', `the node ${path} exists`);
  }

  /** False when the node has come, has gone or was a dead owner's. */
  async #tryWrite(client: ZooKeeperClient, path: string, bytes: Uint8Array): Promise<boolean> {
    const stat = await absentAs(undefined, client.setData(nodePath(path), bytes));
    if (stat !== undefined) {
      return !(await this.#removeLeftOver(client, path, { data: bytes, stat }));
    }
    try {
      await createNode(client, path, { bytes, mode: 'persistent' });
      return true;
    } catch (error) {
      if (hasReason(error, 'NODE_EXISTS')) return false;
      throw error;
    }
  }

  /** False when somebody else changed the node meanwhile. `decide` may throw to leave it alone. */
  async #tryReplace(
    client: ZooKeeperClient,
    path: string,
    change: {
      readonly attempt: Attempt;
      /** Undefined: it is as it should be. */
      readonly decide: (current: Uint8Array | undefined) => Uint8Array | undefined;
    },
  ): Promise<boolean> {
    const { attempt, decide } = change;
    const found = await readNode(client, path);
    if (found !== undefined && (await this.#removeLeftOver(client, path, found))) return false;
    const bytes = decide(found?.data);
    if (bytes === undefined) return true;
    if (client.state !== 'connected') return false; // M4.
    try {
      await attempt.decisive<unknown>(
        found === undefined
          ? createNode(client, path, { bytes, mode: 'persistent' })
          : client.setData(nodePath(path), bytes, found.stat.version),
      );
      return true;
    } catch (error) {
      if (hasReason(error, 'NODE_EXISTS', 'BAD_VERSION', 'NO_NODE')) return false;
      throw error;
    }
  }

  /** True when it was one, and is gone. */
  async #removeLeftOver(
    client: ZooKeeperClient,
    path: string,
    { stat }: NodeData,
  ): Promise<boolean> {
    if (!(await this.#owners.isLeftOver(client, path, stat))) return false;
    await this.#owners.removeWithNode(client, path, stat);
    return true;
  }

  /** M1. The time that a call waits begins here, behind other changes or not. */
  async #change(path: string, work: SessionWork<void>): Promise<void> {
    this.#check(path);
    const deadlineMs = this.#sessions.deadlineMs();
    await this.#failing('write', path, () =>
      this.#queues.run(path, () => this.#sessions.run(deadlineMs, work)),
    );
  }

  async #failing<Result>(
    doing: 'read' | 'write',
    path: string,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw stateFailure(error, { doing, path, address: this.#options.address });
    }
  }

  #check(path: string): void {
    if (this.#closing !== undefined) {
      throw environmentError('STATE_UNAVAILABLE', 'this state manager has been closed');
    }
    checkNodePath(path);
    if (isOwnerRecord(path)) {
      throw userError('INVALID_ARGUMENT', `${path} is kept for the ZooKeeper state manager itself`);
    }
  }
}

/** Somebody else may be about to put another node there. */
async function removeEmptyFolder(client: ZooKeeperClient, folder: string): Promise<void> {
  if (isStandingFolder(folder)) return;
  try {
    await client.delete(nodePath(folder));
  } catch (error) {
    if (!hasReason(error, 'NO_NODE', 'NOT_EMPTY')) throw error;
  }
}

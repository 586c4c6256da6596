import { Chroot } from './chroot.ts';
import {
  type AccessRule,
  type NodeChange,
  type NodeData,
  type NodeMode,
  type NodeStat,
  OPEN_ACCESS,
  type Watcher,
} from './node-records.ts';
import * as operations from './operations.ts';
import { hasReason } from './zookeeper-error.ts';
import {
  type SessionState,
  type WatchRequest,
  ZooKeeperSession,
  type ZooKeeperSessionOptions,
} from './zookeeper-session.ts';

export interface ZooKeeperClientOptions extends ZooKeeperSessionOptions {
  /** The folder that all paths are below, such as `/heron`; absent: the servers' own root. */
  readonly chroot?: string;
  /** The access list of nodes that are made; OPEN_ACCESS when absent. */
  readonly access?: readonly AccessRule[];
}

/**
 * One session with an ensemble of ZooKeeper servers, and the operations on its tree.
 *
 * Paths begin with `/` and are below the chroot. All calls belong to one thread; requests are
 * carried out and answered in the order in which they were made, and any number may be under way.
 * While no server is connected they wait, each for `requestTimeoutMs` at most.
 *
 * Every method rejects with a ZooKeeperError. One that was sent before the connection broke is not
 * sent again: its error `isUncertain`, and the caller looks what has become of it.
 *
 * A client is over after `onLost` or `close`; its owner opens a new one.
 */
export class ZooKeeperClient {
  readonly #chroot: Chroot;
  readonly #access: readonly AccessRule[];
  readonly #session: ZooKeeperSession;

  /** Does nothing until `open`. */
  constructor(options: ZooKeeperClientOptions) {
    this.#chroot = new Chroot(options.chroot);
    this.#access = options.access ?? OPEN_ACCESS;
    this.#session = new ZooKeeperSession(options, this.#chroot);
  }

  /** Begins to look for a server. Called once. */
  open(): void {
    this.#session.open();
  }

  get state(): SessionState {
    return this.#session.state;
  }

  /** As the server granted it, which may be more or less than was asked for. */
  get sessionTimeoutMs(): number {
    return this.#session.sessionTimeoutMs;
  }

  /** The `ephemeralOwner` of this session's nodes; 0 before the first connection. */
  get sessionId(): bigint {
    return this.#session.sessionId;
  }

  /** Makes the chroot itself with all that is missing above it. */
  async createChroot(): Promise<void> {
    for (const path of this.#chroot.folders) {
      // Looked for first: who may use it need not be allowed to make folders where it is.
      if ((await this.#stat(path)) !== undefined) continue;
      const data = new Uint8Array();
      const access = this.#access;
      try {
        await this.#session.request(operations.create({ path, data, mode: 'persistent', access }));
      } catch (error) {
        if (!hasReason(error, 'NODE_EXISTS')) throw error;
      }
    }
  }

  /**
   * Makes a node; its parent must be there. Returns its path, which the server completes for a
   * sequential one.
   *
   * @throws ZooKeeperError NODE_EXISTS, NO_NODE (no parent), NO_CHILDREN_FOR_EPHEMERALS.
   */
  async create(
    path: string,
    data: Uint8Array,
    options: { readonly mode?: NodeMode; readonly access?: readonly AccessRule[] } = {},
  ): Promise<string> {
    const { mode = 'persistent', access = this.#access } = options;
    const node = { path: this.#chroot.whole(path), data, mode, access };
    return this.#chroot.below(await this.#session.request(operations.create(node)));
  }

  /**
   * Removes a node without children; with a version, only while it has that one.
   *
   * @throws ZooKeeperError NO_NODE, BAD_VERSION, NOT_EMPTY.
   */
  delete(path: string, version?: number): Promise<void> {
    return this.#session.request(operations.remove(this.#chroot.whole(path), version));
  }

  /**
   * Undefined when there is no such node. The watcher hears of the node's making, its next change
   * or its end.
   */
  exists(path: string, watcher?: Watcher): Promise<NodeStat | undefined> {
    return this.#stat(this.#chroot.whole(path), watcher);
  }

  /**
   * The watcher hears of the next change or the end. When this rejects, nothing is watched.
   *
   * @throws ZooKeeperError NO_NODE.
   */
  getData(path: string, watcher?: Watcher): Promise<NodeData> {
    const operation = operations.getData(this.#chroot.whole(path), watcher !== undefined);
    return this.#session.request(operation, watching('data', watcher));
  }

  /**
   * Replaces a node's data; with a version, only while it has that one.
   *
   * @throws ZooKeeperError NO_NODE, BAD_VERSION.
   */
  setData(path: string, data: Uint8Array, version?: number): Promise<NodeStat> {
    return this.#session.request(operations.setData(this.#chroot.whole(path), data, version));
  }

  /**
   * The names right below a node, unsorted. The watcher hears when a child comes or goes, or the
   * node itself goes; not of changes of a child's data. When this rejects, nothing is watched.
   *
   * @throws ZooKeeperError NO_NODE.
   */
  getChildren(path: string, watcher?: Watcher): Promise<readonly string[]> {
    const operation = operations.getChildren(this.#chroot.whole(path), watcher !== undefined);
    return this.#session.request(operation, watching('children', watcher));
  }

  getAccess(path: string): Promise<readonly AccessRule[]> {
    return this.#session.request(operations.getAccess(this.#chroot.whole(path)));
  }

  setAccess(path: string, access: readonly AccessRule[]): Promise<NodeStat> {
    return this.#session.request(operations.setAccess(this.#chroot.whole(path), access));
  }

  /** Reads that follow see at least what was written before by anybody, on whatever server. */
  sync(path: string): Promise<void> {
    return this.#session.request(operations.sync(this.#chroot.whole(path)));
  }

  /**
   * Carries out all changes, or none. Returns the paths of what was made, in order.
   *
   * @throws ZooKeeperError with the reason and the path of the first change that was refused.
   */
  async multi(changes: readonly NodeChange[]): Promise<readonly string[]> {
    const parts = changes.map((change) => ({
      ...change,
      path: this.#chroot.whole(change.path),
      access: this.#access,
    }));
    const made = await this.#session.request(operations.multi(parts));
    return made.map((path) => this.#chroot.below(path));
  }

  /**
   * Ends the session, which removes its ephemeral nodes; requests that were sent before are still
   * answered. When no server can be reached it ends on this side at once, and on the servers'
   * when the session runs out. No callback and no watcher is called afterwards. Idempotent.
   */
  close(): Promise<void> {
    return this.#session.close();
  }

  async #stat(wholePath: string, watcher?: Watcher): Promise<NodeStat | undefined> {
    const operation = operations.exists(wholePath, watcher !== undefined);
    try {
      return await this.#session.request(operation, watching('node', watcher));
    } catch (error) {
      if (hasReason(error, 'NO_NODE')) return undefined;
      throw error;
    }
  }
}

function watching(of: WatchRequest['of'], watcher: Watcher | undefined): WatchRequest | undefined {
  return watcher === undefined ? undefined : { of, watcher };
}

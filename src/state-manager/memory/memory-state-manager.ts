import { environmentError } from '../../base/errors.ts';
import type { Epoch, TopologyId } from '../../base/ids.ts';
import { encodeEpoch, epochAfter } from '../epoch-counter.ts';
import { checkNodePath } from '../node-path.ts';
import { paths } from '../paths.ts';
import { sameBytes } from '../same-bytes.ts';
import type { StateManager, Watch } from '../state-manager.ts';

interface MemoryNode {
  readonly bytes: Uint8Array;
  /** Set for ephemeral nodes only. */
  readonly owner?: MemoryStateManager;
}

interface MemoryWatch {
  readonly path: string;
  /** Tells the watcher what its node holds, unless it knows. */
  deliver(): void;
}

/** The store that several MemoryStateManagers share, as processes share a folder. */
export class MemoryStateTree {
  readonly nodes = new Map<string, MemoryNode>();
  readonly watches = new Set<MemoryWatch>();

  put(path: string, node: MemoryNode): void {
    this.nodes.set(path, node);
    this.#notify(path);
  }

  remove(path: string): void {
    if (this.nodes.delete(path)) this.#notify(path);
  }

  /** What the death of an owner without a close does: its ephemeral nodes are gone. */
  expire(owner: MemoryStateManager): void {
    for (const [path, node] of this.nodes) {
      if (node.owner === owner) this.remove(path);
    }
  }

  #notify(path: string): void {
    for (const watch of this.watches) {
      if (watch.path === path) queueMicrotask(() => watch.deliver());
    }
  }
}

/**
 * A StateManager for simulation and tests. Each operation takes effect in the call itself, so that
 * promises are the only source of order; watches are called from microtasks.
 */
export class MemoryStateManager implements StateManager {
  readonly #tree: MemoryStateTree;
  readonly #watches = new Set<Watch>();
  #isClosed = false;

  constructor(tree: MemoryStateTree = new MemoryStateTree()) {
    this.#tree = tree;
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return this.#bytesAt(path)?.slice();
  }

  async create(
    path: string,
    bytes: Uint8Array,
    options: { readonly ephemeral?: boolean } = {},
  ): Promise<void> {
    if (this.#bytesAt(path) !== undefined) {
      throw environmentError('STATE_EXISTS', `the node ${path} exists`);
    }
    const copy = bytes.slice();
    this.#tree.put(path, options.ephemeral ? { bytes: copy, owner: this } : { bytes: copy });
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    this.#checkUsable(path);
    this.#overwrite(path, bytes);
  }

  async replace(path: string, expected: Uint8Array | undefined, bytes: Uint8Array): Promise<void> {
    if (!sameBytes(this.#bytesAt(path), expected)) {
      throw environmentError('STATE_CONFLICT', `the node ${path} was changed by someone else`);
    }
    this.#overwrite(path, bytes);
  }

  async delete(path: string): Promise<void> {
    this.#checkUsable(path);
    this.#tree.remove(path);
  }

  async list(folder: string): Promise<readonly string[]> {
    this.#checkUsable(folder);
    const prefix = `${folder}/`;
    return [...this.#tree.nodes.keys()]
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(prefix.length))
      .filter((name) => !name.includes('/'))
      .toSorted();
  }

  watch(path: string, onValue: (bytes: Uint8Array | undefined) => void): Watch {
    this.#checkUsable(path);
    let delivered: { readonly bytes: Uint8Array | undefined } | undefined;
    const entry: MemoryWatch = {
      path,
      deliver: () => {
        if (!this.#tree.watches.has(entry)) return;
        const bytes = this.#tree.nodes.get(path)?.bytes;
        if (delivered !== undefined && sameBytes(delivered.bytes, bytes)) return;
        delivered = { bytes };
        onValue(bytes?.slice());
      },
    };
    const watch: Watch = {
      close: () => {
        this.#tree.watches.delete(entry);
        this.#watches.delete(watch);
      },
    };
    this.#tree.watches.add(entry);
    this.#watches.add(watch);
    queueMicrotask(() => entry.deliver());
    return watch;
  }

  async nextEpoch(topology: TopologyId): Promise<Epoch> {
    const path = paths.epoch(topology);
    const next = epochAfter(this.#bytesAt(path));
    this.#overwrite(path, encodeEpoch(next));
    return next;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const watch of this.#watches) watch.close();
    this.#tree.expire(this);
  }

  #bytesAt(path: string): Uint8Array | undefined {
    this.#checkUsable(path);
    return this.#tree.nodes.get(path)?.bytes;
  }

  #overwrite(path: string, bytes: Uint8Array): void {
    this.#tree.put(path, { ...this.#tree.nodes.get(path), bytes: bytes.slice() });
  }

  #checkUsable(path: string): void {
    if (this.#isClosed) throw closedError();
    checkNodePath(path);
  }
}

function closedError(): Error {
  return environmentError('STATE_UNAVAILABLE', 'this state manager has been closed');
}

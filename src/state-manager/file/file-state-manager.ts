import { basename, dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { environmentError, messageOf } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import { type Epoch, epoch, type TopologyId } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { ProcessIdentities } from '../../base/process-identities.ts';
import { type Random, randomHex } from '../../base/random.ts';
import { encodeEpoch, epochAfter } from '../epoch-counter.ts';
import { isStandingFolder } from '../node-path.ts';
import { paths } from '../paths.ts';
import { sameBytes } from '../same-bytes.ts';
import type { StateManager, Watch } from '../state-manager.ts';
import { readFailure, writeFailure } from './disk-errors.ts';
import { checkFileNodePath, DiskLayout, lockNameOf } from './disk-layout.ts';
import { encodeHolder } from './holder-record.ts';
import { NodeLocks } from './node-locks.ts';
import { isLeftOver, liveBytes, NodeStore, type StoredNode } from './node-store.ts';
import { NodeWatch } from './node-watch.ts';
import { TaskQueues } from '../task-queues.ts';
import { TemporaryFiles } from './temporary-files.ts';

export interface FileStateManagerOptions {
  /** The folder of the state tree; it is made when the first node is. */
  readonly root: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly files: Files;
  readonly processes: ProcessIdentities;
}

/** What a change makes of a node. */
type Change =
  | { readonly kind: 'put'; readonly bytes: Uint8Array; readonly isEphemeral: boolean }
  | { readonly kind: 'remove' };

/*
  A state tree in a folder of this host, shared by all its processes (R10). This file says what the
  operations mean; how nodes lie on the disk is node-store.ts, how processes exclude each other
  node-locks.ts, how changes are noticed node-watch.ts.

  F1. Every change is one `#change`: under the node's lock, from what the node holds now.
  F2. Changes of one node by one manager happen in the order of the calls.
  F3. Reading writes nothing, so that a Tracker needs no right to write. Only watches clean up after
      dead owners, and the first change of a manager does for the whole tree.
  F4. Nothing is assumed about what others left: a crash between any two steps leaves the node as
      before or as after, and files that the next change, watch or sweep removes.
*/
export class FileStateManager implements StateManager {
  readonly #layout: DiskLayout;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #files: Files;
  readonly #processes: ProcessIdentities;
  readonly #temporary: TemporaryFiles;
  readonly #store: NodeStore;
  readonly #locks: NodeLocks;
  /** This manager's name in locks and owner records. */
  readonly #record: Uint8Array;
  readonly #queues = new TaskQueues();
  readonly #watches = new Set<Watch>();
  /** Nodes that may be ours to remove at the end. */
  readonly #ephemeralPaths = new Set<string>();
  #sweep: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor({ root, clock, random, logger, files, processes }: FileStateManagerOptions) {
    this.#layout = new DiskLayout(root);
    this.#clock = clock;
    this.#logger = logger;
    this.#files = files;
    this.#processes = processes;
    this.#record = encodeHolder({ process: processes.own(), manager: randomHex(random, 8) });
    const ports = { files, processes, clock, random };
    this.#temporary = new TemporaryFiles(this.#layout.temporaryFolder, ports);
    this.#store = new NodeStore(files, this.#layout, this.#temporary);
    this.#locks = new NodeLocks(this.#layout, this.#temporary, { ...ports, record: this.#record });
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    this.#checkUsable(path);
    return this.#reading(path, async () =>
      liveBytes(await this.#store.read(path), this.#processes),
    );
  }

  async create(
    path: string,
    bytes: Uint8Array,
    options: { readonly ephemeral?: boolean } = {},
  ): Promise<void> {
    await this.#change(path, (current) => {
      if (current !== undefined) {
        throw environmentError('STATE_EXISTS', `the node ${path} exists`);
      }
      return { kind: 'put', bytes, isEphemeral: options.ephemeral ?? false };
    });
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    await this.#change(path, () => ({ kind: 'put', bytes, isEphemeral: false }));
  }

  async replace(path: string, expected: Uint8Array | undefined, bytes: Uint8Array): Promise<void> {
    await this.#change(path, (current) => {
      if (!sameBytes(current, expected)) {
        throw environmentError('STATE_CONFLICT', `the node ${path} was changed by someone else`);
      }
      return { kind: 'put', bytes, isEphemeral: false };
    });
  }

  async delete(path: string): Promise<void> {
    await this.#change(path, () => ({ kind: 'remove' }));
  }

  async list(folder: string): Promise<readonly string[]> {
    this.#checkUsable(folder);
    return this.#reading(folder, async () => {
      const names = await this.#store.list(folder);
      const nodes = await Promise.all(names.map((name) => this.#store.read(`${folder}/${name}`)));
      return names.filter((_, index) => this.#isLive(nodes[index])).toSorted();
    });
  }

  watch(path: string, onValue: (bytes: Uint8Array | undefined) => void): Watch {
    this.#checkUsable(path);
    const file = this.#layout.nodeFile(path);
    const nodeWatch = new NodeWatch(
      {
        path,
        folder: dirname(file),
        fileName: basename(file),
        makesFolder: isStandingFolder(dirname(path)),
        look: () => this.#lookAndTidy(path),
        onValue,
      },
      { files: this.#files, clock: this.#clock, logger: this.#logger },
    );
    const watch: Watch = {
      close: () => {
        nodeWatch.close();
        this.#watches.delete(watch);
      },
    };
    this.#watches.add(watch);
    return watch;
  }

  async nextEpoch(topology: TopologyId): Promise<Epoch> {
    let next = epoch(0);
    await this.#change(paths.epoch(topology), (current) => {
      next = epochAfter(current);
      return { kind: 'put', bytes: encodeEpoch(next), isEphemeral: false };
    });
    return next;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const watch of this.#watches) watch.close();
    await this.#queues.settled();
    const removals = [...this.#ephemeralPaths].map((path) => this.#removeIfOwn(path));
    for (const removal of await Promise.allSettled(removals)) {
      if (removal.status === 'fulfilled') continue;
      // The node reads as absent as soon as this process has ended (S2).
      const reason = messageOf(removal.reason);
      this.#logger.warn('cannot remove a state node of this process', { reason });
    }
    await this.#locks.close();
  }

  /** F1. `decide` may throw to leave the node alone. */
  async #change(path: string, decide: (current: Uint8Array | undefined) => Change): Promise<void> {
    this.#checkUsable(path);
    await this.#exclusively(path, async () => {
      const stored = await this.#store.read(path);
      const current = liveBytes(stored, this.#processes);
      const change = decide(current);
      if (change.kind === 'remove') return this.#store.remove(path);
      if (isLeftOver(stored, this.#processes)) await this.#store.remove(path);
      if (change.isEphemeral) this.#ephemeralPaths.add(path);
      const owner = change.isEphemeral ? this.#record : undefined;
      await this.#store.put(path, { bytes: change.bytes, owner });
    });
  }

  async #lookAndTidy(path: string): Promise<Uint8Array | undefined> {
    const stored = await this.#store.read(path);
    // Not awaited: the watcher should hear at once, and may have no right to write.
    if (isLeftOver(stored, this.#processes)) void this.#removeLeftOver(path);
    return liveBytes(stored, this.#processes);
  }

  async #removeLeftOver(path: string): Promise<void> {
    if (this.#queues.isBusy(path)) return; // The change under way does it.
    try {
      await this.#exclusively(path, async () => {
        // Without the lock it may have been a node that is just being made.
        if (!(await this.#tidy(path))) return;
        this.#logger.info('removed the state node of a dead process', { path });
      });
    } catch (error) {
      this.#logger.debug('cannot remove the state node of a dead process', {
        path,
        reason: messageOf(error),
      });
    }
  }

  /** Needs the lock. True when something was removed. */
  async #tidy(path: string): Promise<boolean> {
    if (!isLeftOver(await this.#store.read(path), this.#processes)) return false;
    await this.#store.remove(path);
    return true;
  }

  async #removeIfOwn(path: string): Promise<void> {
    await this.#exclusively(path, async () => {
      const { owner } = await this.#store.read(path);
      if (sameBytes(owner, this.#record)) await this.#store.remove(path);
    });
  }

  /** Runs under the node's lock (F2), with the errors of a write. */
  #exclusively(path: string, work: () => Promise<void>): Promise<void> {
    return this.#queues.run(path, async () => {
      try {
        await this.#sweepOnce();
        await this.#underLock(path, work);
      } catch (error) {
        throw writeFailure(this.#layout.root, path, error);
      }
    });
  }

  async #underLock(path: string, work: () => Promise<void>): Promise<void> {
    const lock = await this.#locks.acquire(lockNameOf(path));
    try {
      await work();
    } finally {
      await lock.release();
    }
  }

  async #reading<T>(path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw readFailure(this.#layout.root, path, error);
    }
  }

  #sweepOnce(): Promise<void> {
    this.#sweep ??= this.#sweepDead();
    return this.#sweep;
  }

  /** Removes what dead processes have left anywhere in the tree, as far as that is possible. */
  async #sweepDead(): Promise<void> {
    try {
      await this.#locks.open();
      await this.#temporary.sweep();
      await this.#locks.sweep();
      for (const path of await this.#store.ephemeralPaths()) {
        if (isLeftOver(await this.#store.read(path), this.#processes))
          await this.#underLock(path, async () => void (await this.#tidy(path)));
      }
    } catch (error) {
      const reason = messageOf(error);
      this.#logger.debug('cannot remove all that dead processes left', { reason });
    }
  }

  #checkUsable(path: string): void {
    if (this.#closing !== undefined) {
      throw environmentError('STATE_UNAVAILABLE', 'this state manager has been closed');
    }
    checkFileNodePath(path);
  }

  #isLive(node: StoredNode | undefined): boolean {
    return node !== undefined && liveBytes(node, this.#processes) !== undefined;
  }
}

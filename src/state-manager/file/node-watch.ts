import type { Clock, Timer } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Files, FileWatch } from '../../base/files.ts';
import type { Logger } from '../../base/logger.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { unless } from '../../base/system-codes.ts';
import { sameBytes } from '../same-bytes.ts';
import type { Watch } from '../state-manager.ts';

/** Twice a second, so that what a dead owner left is found within one. */
const LOOK_PERIOD_MS = 500;

export interface NodeWatchTarget {
  /** The node's path, for messages. */
  readonly path: string;
  /** The folder that holds the node's file, and the file's name in it. */
  readonly folder: string;
  readonly fileName: string;
  /** False: the folder is not made when it is missing. */
  readonly makesFolder: boolean;
  /** Reads the node. */
  look(): Promise<Uint8Array | undefined>;
  onValue(bytes: Uint8Array | undefined): void;
}

export interface NodeWatchOptions {
  readonly files: Files;
  readonly clock: Clock;
  readonly logger: Logger;
}

/*
  Follows one node by level, not by edge (S3): whatever wakes it, it reads the node and compares
  with what it told last.

  W1. The platform's events make it quick, the periodic look makes it right: it finds the death of
      an owner, which no file shows, a folder that came or was replaced, and events that were lost.
  W2. Looks do not overlap. An event during one causes another after it.
  W3. A node that cannot be read leaves the last value standing and is warned of once.
  W4. Folders are watched, not files: a file that is replaced by a rename takes its watch with it.
  W5. Only the first look and the periodic ones make a missing folder. One that an event has caused
      may come while somebody removes the whole tree, who would then find it not empty.
*/
export class NodeWatch implements Watch {
  readonly #target: NodeWatchTarget;
  readonly #files: Files;
  readonly #logger: Logger;
  readonly #timer: Timer;
  #told: { readonly bytes: Uint8Array | undefined } | undefined;
  #events: FileWatch | undefined;
  /** The inode of the folder that `#events` belongs to. */
  #watchedFolder: number | undefined;
  /** W5. */
  #mayMakeFolder = true;
  #isLooking = false;
  #isStale = false;
  #isFailing = false;
  #isClosed = false;

  constructor(target: NodeWatchTarget, options: NodeWatchOptions) {
    this.#target = target;
    this.#files = options.files;
    this.#logger = options.logger;
    this.#timer = options.clock.every(LOOK_PERIOD_MS, () => {
      this.#mayMakeFolder = true;
      this.#wake();
    });
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer.cancel();
    this.#stopEvents();
  }

  #wake(): void {
    this.#isStale = true;
    if (!this.#isLooking) void this.#lookWhileStale();
  }

  async #lookWhileStale(): Promise<void> {
    this.#isLooking = true;
    while (this.#isStale && !this.#isClosed) {
      this.#isStale = false;
      const seen = await this.#look();
      if (seen !== undefined) this.#tell(seen.bytes);
    }
    this.#isLooking = false;
  }

  /** Undefined when the node cannot be read. */
  async #look(): Promise<{ readonly bytes: Uint8Array | undefined } | undefined> {
    try {
      await this.#followFolder(); // Before the read, so that no change falls between the two.
      const bytes = await this.#target.look();
      this.#isFailing = false;
      return { bytes };
    } catch (error) {
      this.#warnOnce(error);
      return undefined;
    }
  }

  #tell(bytes: Uint8Array | undefined): void {
    if (this.#isClosed) return;
    if (this.#told !== undefined && sameBytes(this.#told.bytes, bytes)) return;
    this.#told = { bytes };
    this.#target.onValue(bytes?.slice());
  }

  async #followFolder(): Promise<void> {
    const { folder } = this.#target;
    const makesFolder = this.#target.makesFolder && this.#mayMakeFolder;
    this.#mayMakeFolder = false;
    const inode = await this.#inodeOf(folder);
    if (inode !== undefined && inode === this.#watchedFolder) return;
    this.#stopEvents();
    if (inode === undefined) {
      // A reader without the right to make it waits for someone who has.
      const refused = ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOSPC'];
      if (!makesFolder) return;
      await unless(refused, makeFolder(this.#files, folder), undefined);
    }
    await this.#startEvents();
  }

  async #startEvents(): Promise<void> {
    const { folder, fileName } = this.#target;
    const inode = await this.#inodeOf(folder);
    if (inode === undefined || this.#isClosed) return;
    try {
      this.#events = this.#files.watch(folder, {
        onChange: (name) => {
          // Perhaps the folder has gone. Its successor may have the same inode.
          if (name === undefined) this.#watchedFolder = undefined;
          if (name === undefined || name === fileName) this.#wake();
        },
        onLost: (error) => this.#onEventsLost(error),
      });
      this.#watchedFolder = inode;
    } catch (error) {
      // The kernel's limit on watches, for one. The periodic look goes on.
      this.#onEventsLost(error);
    }
  }

  async #inodeOf(folder: string): Promise<number | undefined> {
    return (await unless(['ENOENT'], this.#files.facts(folder), undefined))?.inode;
  }

  #onEventsLost(error: unknown): void {
    this.#stopEvents();
    this.#logger.debug('no events for a state folder; it is read periodically', {
      folder: this.#target.folder,
      reason: messageOf(error),
    });
  }

  #stopEvents(): void {
    this.#events?.close();
    this.#events = undefined;
    this.#watchedFolder = undefined;
  }

  #warnOnce(error: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#logger.warn('a watched state node cannot be read; its last value stands', {
      path: this.#target.path,
      reason: messageOf(error),
    });
  }
}

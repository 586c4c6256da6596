import { type Clock, delay, type Timer } from '../../base/clock.ts';
import { environmentError } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { readIfThere, removeIfThere } from '../../base/optional-files.ts';
import type { ProcessIdentities } from '../../base/process-identities.ts';
import type { Random } from '../../base/random.ts';
import { systemCodeOf } from '../../base/system-codes.ts';
import { sameBytes } from '../same-bytes.ts';
import type { DiskLayout } from './disk-layout.ts';
import { describeHolder, fingerprintOf, isHolderAlive } from './holder-record.ts';
import type { TemporaryFiles } from './temporary-files.ts';

/** A change takes milliseconds; whoever waits this long waits for a process that was stopped. */
const LOCK_WAIT_MAX_MS = 10_000;
const LOCK_PAUSE_MAX_MS = 8;
/** Between two attempts to remove a lock from a disk that fails: short against those who wait. */
const RELEASE_RETRY_MS = 200;

/** A held lock. */
export interface Lock {
  release(): Promise<void>;
}

export interface NodeLocksOptions {
  readonly files: Files;
  readonly processes: ProcessIdentities;
  readonly clock: Clock;
  readonly random: Random;
  /** What this holder's locks contain. */
  readonly record: Uint8Array;
}

/*
  Mutual exclusion between the processes of one host, without flock, which Node does not have. A
  lock is a file that contains its holder's record.

  L1. A lock appears whole: it is a hard link to a record that was written before. The link fails
      when the lock is there, so exactly one of several contenders gets it.
  L2. A live holder's lock is removed by that holder only.
  L3. A dead holder's lock is replaced by whoever holds the lock `<name>+<fingerprint of the dead>`,
      by one rename. That lock obeys the same rules, to any depth, so exactly one contender replaces
      it. A late one, which still believes in the dead holder, gets that second lock too, looks
      again at the first, finds another record there and leaves it alone.
  L4. Therefore the lock is never absent while it changes hands, and never in two. A holder that
      dies while it replaces costs its successor one more level.
  L5. Nobody waits beyond LOCK_WAIT_MAX_MS.
  L6. A lock that a failing disk does not let its holder remove is nobody's fault and must not stay
      for the holder's life: its removal is tried again until it succeeds, and until then its holder
      may take it up again. What was done under it counts as done. A removal that was reported to
      have failed may have happened all the same, so each of these looks first whose the lock is.

  Removing a dead lock and then making one's own would not do: between a look at the dead lock and
  its removal another contender may have put its live lock in the same place.
*/
export class NodeLocks {
  readonly #files: Files;
  readonly #processes: ProcessIdentities;
  readonly #layout: DiskLayout;
  readonly #temporary: TemporaryFiles;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #record: Uint8Array;
  /** The file that this holder's locks are links to. */
  #recordFile: Promise<string> | undefined;
  /** Locks of ours that could not be removed, each with its next attempt (L6). */
  readonly #stuck = new Map<string, Timer>();

  constructor(layout: DiskLayout, temporary: TemporaryFiles, options: NodeLocksOptions) {
    this.#files = options.files;
    this.#processes = options.processes;
    this.#layout = layout;
    this.#temporary = temporary;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#record = options.record;
  }

  /** Makes the folders and this holder's record. Repeats nothing that has succeeded. */
  async open(): Promise<void> {
    await this.#ownRecordFile();
  }

  /**
   * @throws STATE_UNAVAILABLE when a live process keeps the lock for too long
   */
  async acquire(name: string): Promise<Lock> {
    const deadlineMs = this.#clock.now() + LOCK_WAIT_MAX_MS;
    let holder: Uint8Array | undefined;
    do {
      if (await this.#takeUpOwn(name)) return this.#held(name);
      if (await this.#tryCreate(name)) return this.#held(name);
      holder = await readIfThere(this.#files, this.#layout.lockFile(name));
      if (holder === undefined) continue; // Released since.
      if (isHolderAlive(holder, this.#processes)) await this.#pause();
      else if (await this.#replaceDead(name, holder)) return this.#held(name);
    } while (this.#clock.now() < deadlineMs);
    const by = holder === undefined ? 'others in turn' : describeHolder(holder);
    const message = `waited ${LOCK_WAIT_MAX_MS} ms for the lock ${name}, which is held by ${by}`;
    throw environmentError('STATE_UNAVAILABLE', message, { retryable: true });
  }

  /** Removes the locks of dead holders. */
  async sweep(): Promise<void> {
    for (const { name } of await this.#files.list(this.#layout.locksFolder)) {
      const holder = await readIfThere(this.#files, this.#layout.lockFile(name));
      if (holder === undefined || isHolderAlive(holder, this.#processes)) continue;
      const lock = await this.acquire(name);
      await lock.release();
    }
  }

  /** After this the locks cannot be used any more. */
  async close(): Promise<void> {
    for (const name of this.#stuck.keys()) {
      // What is left goes with this process, like everything that it leaves.
      if (this.#takeUp(name)) await this.#removeOwn(name).catch(() => {});
    }
    if (this.#recordFile === undefined) return;
    // A sweep removes what a dead process could not.
    await removeIfThere(this.#files, await this.#recordFile).catch(() => {});
  }

  async #tryCreate(name: string): Promise<boolean> {
    const recordFile = await this.#ownRecordFile();
    try {
      await this.#files.link(recordFile, this.#layout.lockFile(name));
      return true;
    } catch (error) {
      if (systemCodeOf(error) === 'EEXIST') return false;
      if (systemCodeOf(error) !== 'ENOENT') throw error;
      // Someone removed the state folder under a live process: the next attempt makes it again.
      this.#recordFile = undefined;
      return false;
    }
  }

  /** False when the dead holder is not there any more. */
  async #replaceDead(name: string, dead: Uint8Array): Promise<boolean> {
    const file = this.#layout.lockFile(name);
    const right = await this.acquire(`${name}+${fingerprintOf(dead)}`);
    try {
      if (!sameBytes(await readIfThere(this.#files, file), dead)) return false;
      const copy = this.#temporary.newPath();
      await this.#files.link(await this.#ownRecordFile(), copy);
      await this.#files.rename(copy, file);
      return true;
    } finally {
      await right.release();
    }
  }

  #held(name: string): Lock {
    const file = this.#layout.lockFile(name);
    return {
      release: () => removeIfThere(this.#files, file).catch(() => this.#removeLater(name)),
    };
  }

  #removeLater(name: string): void {
    const retry = (): void => {
      if (this.#takeUp(name)) void this.#removeOwn(name).catch(() => this.#removeLater(name));
    };
    this.#stuck.set(name, this.#clock.after(RELEASE_RETRY_MS, retry));
  }

  /** True when a lock may still be there that its last holder here could not remove (L6). */
  #takeUp(name: string): boolean {
    this.#stuck.get(name)?.cancel();
    return this.#stuck.delete(name);
  }

  async #takeUpOwn(name: string): Promise<boolean> {
    if (!this.#takeUp(name)) return false;
    try {
      return await this.#isOwn(name);
    } catch (error) {
      this.#removeLater(name);
      throw error;
    }
  }

  async #removeOwn(name: string): Promise<void> {
    if (await this.#isOwn(name)) await removeIfThere(this.#files, this.#layout.lockFile(name));
  }

  async #isOwn(name: string): Promise<boolean> {
    const holder = await readIfThere(this.#files, this.#layout.lockFile(name));
    return sameBytes(holder, this.#record);
  }

  #pause(): Promise<void> {
    return delay(this.#clock, 1 + this.#random.below(LOCK_PAUSE_MAX_MS));
  }

  #ownRecordFile(): Promise<string> {
    this.#recordFile ??= this.#writeRecordFile();
    return this.#recordFile;
  }

  async #writeRecordFile(): Promise<string> {
    try {
      for (const folder of [this.#layout.locksFolder, this.#layout.temporaryFolder]) {
        await makeFolder(this.#files, folder);
      }
      return await this.#temporary.write(this.#record, { durable: false });
    } catch (error) {
      this.#recordFile = undefined; // The next caller tries again.
      throw error;
    }
  }
}

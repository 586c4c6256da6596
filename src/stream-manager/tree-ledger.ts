import type { Clock, Timer } from '../base/clock.ts';
import { assertDefined } from '../base/assert.ts';
import { TreeTable } from './tree-table.ts';

/** A tree is dropped by time-out after that many rotations, and a part of one. */
const ROTATIONS = 10;
/** Without time-outs, how often memory is given back. */
const REST_PERIOD_MS = 3_000;
/** At most half a millisecond at a time. */
const MERGES_MAX = 64;
/** Timers of the operating system may be early by less than a millisecond. */
const TIMER_SLACK_MS = 1;
/** What one step of a sweep does at most: some tenths of a millisecond, and 90 KiB of replies. */
const STEP_SEGMENTS = 16;
const STEP_FAILS = 2_048;
/** How often it is asked whether there is room again. */
const ROOM_INTERVAL_MS = 10;
const WHOLE_RANGE = 2 ** 32;

/** What `settle` says of a tree. */
export type Settled =
  /** There is none: it is over already, or was never made. */
  | 'unknown'
  /** Tuples of it are still out. */
  | 'open'
  /** It is complete, and forgotten. */
  | 'complete'
  /** It would be complete, but `failAll` has failed it; forgotten. */
  | 'lost';

export interface TreeLedgerOptions {
  readonly clock: Clock;
  /** `topology.message.timeout.secs`; undefined keeps each tree until it is settled. */
  readonly timeoutMs: number | undefined;
  /** A tree has failed and is forgotten: its time is up, or `failAll` was called. */
  readonly onFailed: (
    keyLow: number,
    keyHigh: number,
    kind: 'time-out' | 'lost-stream-manager',
  ) => void;
  /** Whether more fails may be said now; a sweep waits until there is room. */
  readonly hasRoom: () => boolean;
}

/** Trees that were made between two rotations, or between a loss and a rotation. */
interface Generation {
  /** In the table, with each of its trees; generations next to each other differ by 1. */
  readonly stamp: number;
  /** The number of the rotation that it began with. */
  rotation: number;
  count: number;
}

/**
 * Heron's account of tuple trees (wire-protocol.md tells the conversation), for one spout task. The
 * value of a tree is the XOR of the keys of all of its tuples that are out; each key goes in when
 * its tuple is sent and again when it is acked, so the tree is complete when the value is zero.
 *
 * L1. A tree may also be complete by the news of a tuple that was sent: news of a tuple's ack may
 *     overtake it, on another way. No tree is complete too early by that: the key of a bolt's input
 *     goes in the second time with or behind the keys of what the bolt made of it.
 * L2. A tree fails by time-out when it is older than T, and at the latest T·1.1 + 1 s later than it
 *     was made. Its clock stands still while the spout is held, and is delayed by as much as this
 *     process cannot run. Time-outs rotate: every tenth of T a generation ends, and the one that
 *     ended ten before it has expired.
 * L3. What has expired, or is lost, is swept out in steps between which other work is done. Up to
 *     then an expired tree may still be complete; a lost one may not, since the news of its tuples
 *     has gaps.
 * L4. Every rotation gives back memory that trees have left; without time-outs, too, there are
 *     rotations, but nothing expires. They rest while there are no trees.
 */
export class TreeLedger {
  readonly #options: TreeLedgerOptions;
  readonly #periodMs: number;
  readonly #table = new TreeTable();
  /** Those that have not expired, by stamp; the last one takes new trees. */
  #generations: Generation[] = [{ stamp: 1, rotation: 0, count: 0 }];
  #rotation = 0;
  /** Up to these stamps trees have expired, or are lost. */
  #expiredThrough = 0;
  #lostThrough = 0;
  /** How many of those are still in the table. */
  #overdue = 0;
  #isHeld = false;
  #rotationTimer: Timer | undefined;
  #rotationDueMs = 0;
  /** Of the running rotation, while the clock stands still; undefined while none runs. */
  #remainingMs: number | undefined;
  #sweepTimer: Timer | undefined;
  #sweepFrom = 0;

  constructor(options: TreeLedgerOptions) {
    this.#options = options;
    const { timeoutMs } = options;
    this.#periodMs =
      timeoutMs === undefined ? REST_PERIOD_MS : Math.ceil(timeoutMs / ROTATIONS) + TIMER_SLACK_MS;
  }

  /** Live trees. */
  get count(): number {
    return this.#table.count;
  }

  /** Bytes of memory for them. */
  get byteLength(): number {
    return this.#table.byteLength;
  }

  /** A tree begins, with the XOR of its first tuples' keys. Replaces a live one (as Heron). */
  create(keyLow: number, keyHigh: number, xorLow: number, xorHigh: number): void {
    const generation = this.#generations[this.#generations.length - 1] as Generation;
    const table = this.#table;
    if (table.create(keyLow, keyHigh, xorLow, xorHigh, generation.stamp)) {
      this.#uncount(table.removedStamp);
    }
    generation.count += 1;
    if (table.count === 1) this.#startRotating();
  }

  /** A tuple of the tree was sent or acked (L1). */
  settle(keyLow: number, keyHigh: number, xorLow: number, xorHigh: number): Settled {
    const table = this.#table;
    const result = table.settle(keyLow, keyHigh, xorLow, xorHigh);
    if (result === 0) return 'open';
    if (result < 0) return 'unknown';
    const stamp = table.removedStamp;
    this.#uncount(stamp);
    return stamp <= this.#lostThrough ? 'lost' : 'complete';
  }

  /** A tuple of the tree failed: it is forgotten. False when there is none. */
  remove(keyLow: number, keyHigh: number): boolean {
    if (!this.#table.remove(keyLow, keyHigh)) return false;
    this.#uncount(this.#table.removedStamp);
    return true;
  }

  /** Fails every tree that lives now as `lost-stream-manager` (L3). */
  failAll(): void {
    const { stamp } = this.#newest();
    for (const { count } of this.#generations) this.#overdue += count;
    this.#lostThrough = stamp;
    this.#generations = [{ stamp: stamp + 1, rotation: this.#rotation, count: 0 }];
    this.#sweepLater();
  }

  /** Forgets every tree without a word: the spout that would hear it is gone. */
  clear(): void {
    this.close();
    this.#table.clear();
    this.#generations = [{ stamp: this.#newest().stamp, rotation: this.#rotation, count: 0 }];
    this.#overdue = 0;
  }

  /** Whether its spout is held by back pressure (L2). */
  setHeld(isHeld: boolean): void {
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    if (isHeld) {
      if (this.#rotationTimer === undefined) return;
      this.#remainingMs = Math.max(0, this.#rotationDueMs - this.#options.clock.now());
      this.#rotationTimer.cancel();
      this.#rotationTimer = undefined;
    } else if (this.#remainingMs !== undefined) this.#rotateAfter(this.#remainingMs);
  }

  /** Stops its timers; idempotent. */
  close(): void {
    this.#rotationTimer?.cancel();
    this.#rotationTimer = undefined;
    this.#remainingMs = undefined;
    this.#sweepTimer?.cancel();
    this.#sweepTimer = undefined;
    this.#sweepFrom = 0;
  }

  #newest(): Generation {
    return assertDefined(this.#generations.at(-1), 'there is always one for new trees');
  }

  /** A tree has left the table. */
  #uncount(stamp: number): void {
    const first = this.#generations[0] as Generation;
    if (stamp < first.stamp) this.#overdue -= 1;
    else (this.#generations[stamp - first.stamp] as Generation).count -= 1;
  }

  #startRotating(): void {
    if (this.#rotationTimer === undefined && this.#remainingMs === undefined) {
      this.#rotateAfter(this.#periodMs);
    }
  }

  #rotateAfter(delayMs: number): void {
    this.#remainingMs = undefined;
    if (this.#isHeld) {
      this.#remainingMs = delayMs;
      return;
    }
    const { clock } = this.#options;
    this.#rotationDueMs = clock.now() + delayMs;
    this.#rotationTimer = clock.after(delayMs, this.#rotate);
  }

  readonly #rotate = (): void => {
    this.#rotationTimer = undefined;
    if (this.#options.timeoutMs !== undefined) this.#expire();
    this.#table.shrink(MERGES_MAX);
    if (this.#table.count > 0) this.#rotateAfter(this.#periodMs);
  };

  #expire(): void {
    this.#rotation += 1;
    const newest = this.#newest();
    if (newest.count === 0) newest.rotation = this.#rotation;
    else {
      const { stamp } = newest;
      this.#generations.push({ stamp: stamp + 1, rotation: this.#rotation, count: 0 });
    }
    // The trees of a generation are at most as old as its beginning, at least as its end.
    for (;;) {
      const oldest = this.#generations[0] as Generation;
      if (oldest.rotation + ROTATIONS >= this.#rotation) break;
      this.#generations.shift();
      this.#expiredThrough = oldest.stamp;
      this.#overdue += oldest.count;
    }
    if (this.#overdue > 0) this.#sweepLater();
  }

  #sweepLater(): void {
    if (this.#sweepTimer !== undefined || this.#overdue === 0) return;
    const { clock, hasRoom } = this.#options;
    this.#sweepTimer = hasRoom()
      ? clock.soon(this.#sweep)
      : clock.after(ROOM_INTERVAL_MS, this.#sweep);
  }

  /** A step goes on where the last one ended, round and round while anything is overdue. */
  readonly #sweep = (): void => {
    this.#sweepTimer = undefined;
    const { hasRoom } = this.#options;
    const through = Math.max(this.#expiredThrough, this.#lostThrough);
    const enough = this.#overdue - STEP_FAILS;
    for (let step = 0; step < STEP_SEGMENTS && hasRoom(); step += 1) {
      this.#sweepFrom = this.#table.sweep(this.#sweepFrom, through, this.#fail);
      if (this.#sweepFrom === WHOLE_RANGE) this.#sweepFrom = 0;
      if (this.#overdue === 0 || this.#overdue <= enough) break;
    }
    this.#sweepLater();
  };

  readonly #fail = (keyLow: number, keyHigh: number, stamp: number): void => {
    this.#overdue -= 1;
    const kind = stamp <= this.#expiredThrough ? 'time-out' : 'lost-stream-manager';
    this.#options.onFailed(keyLow, keyHigh, kind);
  };
}

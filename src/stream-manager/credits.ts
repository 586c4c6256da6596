import { assert } from '../base/assert.ts';
import { RootRing } from './root-ring.ts';
import { SetQueue } from './set-queue.ts';

/*
  Byte credits: the only thing that bounds what is under way, and the only back pressure there is.

    source task ──(InstanceWindow)──> stream manager ──(SendWindow)──> stream manager ──> task T
         <───────── release ─────────        <────── grant ──────  (ArrivalLedger)  <─ consumed ─

  There is one SendWindow for each pair of sending stream manager and destination task, one
  ArrivalLedger for each local destination, one InstanceWindow for each local source.

  C1. Balance and bytes under way of a SendWindow always add up to the window. The balance may fall
      below zero by one set, since sets are whole: a set larger than the window still gets through.
  C2. Consumed bytes are owed to the senders in the order of delivery. No sender is ever granted
      more than what it delivered.
      What is lost with the task's process is granted as lost, so that the sender knows which sets
      they were: the oldest that are not credited.
  C3. What arrived over a link that has gone is owed to nobody: the next link starts with full
      windows on both sides.
  C4. An instance gets its bytes back only while none of its batches waits in this stream manager.
      So what waits here for one source is at most one instance window and one packet, times the
      tasks that each of its tuples goes to. Where tuples are dropped in place of waiting it gets
      them back all the same (local-source.ts): the high mark of congestion.ts is the bound then.
  Topologies have no cycles, so some task can always consume, and every window opens again.
*/

/**
 * Whoever sends sets to a task and gets its credit back: this stream manager or a link to another.
 */
export interface CreditOwner {
  /** The last `lostBytes` of `bytes` were not consumed: they are gone with the task's process. */
  grant(task: number, bytes: number, lostBytes: number): void;
}

/** The trees of the tuples of sets: task, low and high half of the root's key, and so on. */
export type RetainedRoots = Int32Array;

/** Hears of the trees of sets that may be lost. */
export type OnLostRoots = (roots: RetainedRoots) => void;

/**
 * What one stream manager may still send to one task, and the trees of what is under way to it: if
 * that gets lost, they fail at once, and no time has to be out first.
 */
export class SendWindow {
  readonly #windowBytes: number;
  /** Whose owner is where in the ring the set's trees begin. */
  readonly #underWay = new SetQueue<number>();
  /** Made by the first set that belongs to trees. */
  #roots: RootRing | undefined;
  #balanceBytes: number;

  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
    this.#balanceBytes = windowBytes;
  }

  get isOpen(): boolean {
    return this.#balanceBytes > 0;
  }

  get balanceBytes(): number {
    return this.#balanceBytes;
  }

  /** Sent and not come back (C1). */
  get underWayBytes(): number {
    return this.#windowBytes - this.#balanceBytes;
  }

  /** Tuples of the sets that were sent and have not come back, each whole. */
  get underWayTuples(): number {
    return this.#underWay.totalTuples;
  }

  /** `roots` is copied. */
  spend(bytes: number, tuples: number, roots?: RetainedRoots): void {
    assert(this.isOpen, 'C1: a set is sent only while the balance is above zero');
    this.#balanceBytes -= bytes;
    this.#underWay.push(this.#roots?.end ?? 0, bytes, tuples);
    if (roots === undefined) return;
    this.#roots ??= new RootRing();
    this.#roots.push(roots);
  }

  /** Credit came back. A peer's word: more than what is under way is not believed (C1). */
  refill(bytes: number): void {
    this.#balanceBytes += this.#underWay.take(bytes, ignoreOwner);
    const roots = this.#roots;
    if (roots !== undefined) roots.dropTo(this.#underWay.oldestOwner ?? roots.end);
  }

  /** Credit came back for sets that were lost (C2). */
  lose(bytes: number, onLost: OnLostRoots): void {
    this.#balanceBytes += this.#underWay.take(bytes, ignoreOwner);
    this.#loseRoots(onLost);
  }

  /** The way to the task broke. Returns how many tuples may have been lost on it. */
  reset(onLost: OnLostRoots = ignoreOwner): number {
    this.#balanceBytes = this.#windowBytes;
    const tuples = this.#underWay.clear(ignoreOwner);
    this.#loseRoots(onLost);
    return tuples;
  }

  /** The trees of the sets that have just left the queue. */
  #loseRoots(onLost: OnLostRoots): void {
    const roots = this.#roots;
    if (roots === undefined) return;
    const lost = roots.takeTo(this.#underWay.oldestOwner ?? roots.end);
    if (lost.length > 0) onLost(lost);
  }
}

/** What has been delivered to one local task and not yet consumed by it, and by whom it came. */
export class ArrivalLedger {
  readonly #task: number;
  readonly #unconsumed = new SetQueue<CreditOwner>();
  /** Only filled while a message is handled: one grant for each sender, not one for each set. */
  readonly #owed = new Map<CreditOwner, number>();

  constructor(task: number) {
    this.#task = task;
  }

  get unconsumedBytes(): number {
    return this.#unconsumed.totalBytes;
  }

  delivered(sender: CreditOwner, bytes: number, tuples: number): void {
    this.#unconsumed.push(sender, bytes, tuples);
  }

  /** The task has consumed bytes: its senders get them back (C2). */
  consumed(bytes: number): void {
    this.#unconsumed.take(bytes, this.#owe);
    this.#pay(false);
  }

  /** The task is gone with what it had. Senders get their credit back; returns the lost tuples. */
  reset(): number {
    const lostTuples = this.#unconsumed.clear(this.#owe);
    this.#pay(true);
    return lostTuples;
  }

  readonly #owe = (sender: CreditOwner, bytes: number): void => {
    this.#owed.set(sender, (this.#owed.get(sender) ?? 0) + bytes);
  };

  #pay(isLost: boolean): void {
    for (const [sender, bytes] of this.#owed) sender.grant(this.#task, bytes, isLost ? bytes : 0);
    this.#owed.clear();
  }
}

/** What one local instance has sent and not yet got back. */
export class InstanceWindow {
  readonly #releaseFromBytes: number;
  #unreleasedBytes = 0;
  /** Batches made of this instance's tuples that have not left yet. */
  #waitingBatches = 0;

  /** A release costs a packet, so it waits for a quarter of the window to gather. */
  constructor(windowBytes: number) {
    this.#releaseFromBytes = windowBytes / 4;
  }

  get isBlocked(): boolean {
    return this.#waitingBatches > 0;
  }

  received(bytes: number): void {
    this.#unreleasedBytes += bytes;
  }

  batchOpened(): void {
    this.#waitingBatches += 1;
  }

  batchSent(): void {
    this.#waitingBatches -= 1;
    assert(this.#waitingBatches >= 0, 'C4: a batch leaves once');
  }

  /** Bytes to give back now; 0 while something waits (C4) or too little has gathered. */
  takeReleasable(): number {
    if (this.#waitingBatches > 0 || this.#unreleasedBytes < this.#releaseFromBytes) return 0;
    const bytes = this.#unreleasedBytes;
    this.#unreleasedBytes = 0;
    return bytes;
  }

  /** A new connection of the same instance starts with a full window. */
  reset(): void {
    this.#unreleasedBytes = 0;
  }
}

function ignoreOwner(): void {
  // A SendWindow has one owner, which asks for its own credit.
}

import { assert } from '../base/assert.ts';
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
  C3. What arrived over a link that has gone is owed to nobody: the next link starts with full
      windows on both sides.
  C4. An instance gets its bytes back only while none of its batches waits in this stream manager.
      So what waits here for one source is at most one instance window and one packet, times the
      tasks that each of its tuples goes to.
  Topologies have no cycles, so some task can always consume, and every window opens again.
*/

/**
 * Whoever sends sets to a task and gets its credit back: this stream manager or a link to another.
 */
export interface CreditOwner {
  grant(task: number, bytes: number): void;
}

/** What one stream manager may still send to one task. */
export class SendWindow {
  readonly #windowBytes: number;
  readonly #underWay = new SetQueue<undefined>();
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

  spend(bytes: number, tuples: number): void {
    assert(this.isOpen, 'C1: a set is sent only while the balance is above zero');
    this.#balanceBytes -= bytes;
    this.#underWay.push(undefined, bytes, tuples);
  }

  /** Credit came back. A peer's word: more than what is under way is not believed (C1). */
  refill(bytes: number): void {
    this.#balanceBytes += this.#underWay.take(bytes, ignoreOwner);
  }

  /** The way to the task broke. Returns how many tuples may have been lost on it. */
  reset(): number {
    this.#balanceBytes = this.#windowBytes;
    return this.#underWay.clear(ignoreOwner);
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
    this.#pay();
  }

  /** The task is gone with what it had. Senders get their credit back; returns the lost tuples. */
  reset(): number {
    const lostTuples = this.#unconsumed.clear(this.#owe);
    this.#pay();
    return lostTuples;
  }

  readonly #owe = (sender: CreditOwner, bytes: number): void => {
    this.#owed.set(sender, (this.#owed.get(sender) ?? 0) + bytes);
  };

  #pay(): void {
    for (const [sender, bytes] of this.#owed) sender.grant(this.#task, bytes);
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

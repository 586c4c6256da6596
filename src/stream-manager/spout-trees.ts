import type { Clock } from '../base/clock.ts';
import type { TaskId } from '../base/ids.ts';
import { SettledRoots } from '../wire/settled-roots.ts';
import type { AckTraffic } from './ack-traffic.ts';
import type { BatchPool } from './batch-pool.ts';
import type { FailDetails } from './fail-details.ts';
import { TreeLedger } from './tree-ledger.ts';

export interface SpoutTreesOptions {
  readonly task: TaskId;
  readonly clock: Clock;
  readonly timeoutMs: number | undefined;
  /** As with Heron, for a spout of another language: it has time-outs of its own. */
  readonly expiresSilently: boolean;
  readonly details: FailDetails;
  readonly traffic: AckTraffic;
  readonly pool: BatchPool;
  /**
   * Gives a HeronTupleSet2 to the task's instance and calls `release` when its bytes have left;
   * false, and nothing called, when it is not connected.
   */
  readonly deliver: (set: Uint8Array, release: () => void) => boolean;
  /** Bytes that its connection has not taken. */
  readonly queuedBytes: () => number;
  /** There is something to `flush` by the end of the turn; called once until it is flushed. */
  readonly onReplies: (trees: SpoutTrees) => void;
}

/** A sweep of many trees waits while that much of its replies waits for the socket. */
const QUEUED_BYTES_MAX = 4 * 1024 * 1024;

/**
 * The trees of one spout task of this container, and what its instance is told of them: one ack or
 * one fail for each, gathered over a turn.
 *
 * S1. A tree is taken out of the ledger before it is spoken of, so nothing is said twice.
 * S2. The trees of an instance that has gone are forgotten, and so is what was about to be said.
 *     A new connection is a new beginning, even of the same process: it fails what it waits for.
 */
export class SpoutTrees {
  readonly task: TaskId;
  readonly ledger: TreeLedger;
  readonly #options: SpoutTreesOptions;
  readonly #replies: SettledRoots;
  #replySource: number;
  #isAnnounced = false;

  constructor(options: SpoutTreesOptions) {
    const { task, clock, timeoutMs, queuedBytes } = options;
    this.task = task;
    this.#options = options;
    this.#replySource = task;
    this.#replies = new SettledRoots(task);
    this.ledger = new TreeLedger({
      clock,
      timeoutMs,
      onFailed: (low, high, kind) => this.#failed(low, high, kind),
      hasRoom: () => queuedBytes() < QUEUED_BYTES_MAX,
    });
  }

  /** Its instance has come or gone (S2). */
  forget(): void {
    this.ledger.clear();
    this.#replies.clear();
  }

  /** The task's own tuple went out, under keys with this XOR. */
  created(keyLow: number, keyHigh: number, xorLow: number, xorHigh: number): void {
    this.ledger.create(keyLow, keyHigh, xorLow, xorHigh);
  }

  /** The task's own tuple went nowhere. */
  completed(keyLow: number, keyHigh: number): void {
    this.#ack(keyLow, keyHigh, this.task);
  }

  /** `sourceTask` sent or acked a tuple of a tree. */
  settle(
    kind: 'ack' | 'emit',
    sourceTask: number,
    keyLow: number,
    keyHigh: number,
    xorLow: number,
    xorHigh: number,
  ): void {
    const result = this.ledger.settle(keyLow, keyHigh, xorLow, xorHigh);
    if (result === 'open') return;
    if (result === 'complete') this.#ack(keyLow, keyHigh, sourceTask);
    else if (result === 'lost') this.#failed(keyLow, keyHigh, 'lost-stream-manager');
    else if (kind === 'ack') this.#options.traffic.acksWithoutTree.value += 1;
  }

  /** `sourceTask` failed a tuple of a tree. */
  fail(sourceTask: number, keyLow: number, keyHigh: number, detail: Uint8Array): void {
    if (this.ledger.remove(keyLow, keyHigh)) this.failed(sourceTask, keyLow, keyHigh, detail);
    else this.#options.traffic.failsWithoutTree.value += 1;
  }

  /** Says that a tree failed which the ledger does not have, or no more. */
  failed(sourceTask: number, keyLow: number, keyHigh: number, detail: Uint8Array): void {
    this.#options.traffic.countFail(detail);
    this.#announce(sourceTask);
    this.#replies.addFail(keyLow, keyHigh, detail);
    if (this.#replies.isFull) this.flush();
  }

  /** Sends what has gathered. */
  flush(): void {
    this.#isAnnounced = false;
    const replies = this.#replies;
    if (replies.isEmpty) return;
    const { deliver, traffic, pool } = this.#options;
    const buffer = pool.take(replies.byteLength(this.#replySource));
    const end = replies.writeSet(buffer, 0, this.#replySource);
    const { ackCount, failCount } = replies;
    replies.clear();
    if (deliver(buffer.subarray(0, end), () => pool.give(buffer))) {
      traffic.acksToInstances.value += ackCount;
      traffic.failsToInstances.value += failCount;
    } else {
      pool.give(buffer);
      traffic.acksToInstancesLost.value += ackCount;
      traffic.failsToInstancesLost.value += failCount;
    }
  }

  #ack(keyLow: number, keyHigh: number, sourceTask: number): void {
    this.#announce(sourceTask);
    this.#replies.addAck(keyLow, keyHigh);
    if (this.#replies.isFull) this.flush();
  }

  #failed(keyLow: number, keyHigh: number, kind: 'time-out' | 'lost-stream-manager'): void {
    const { traffic, details, expiresSilently } = this.#options;
    if (kind === 'time-out') traffic.treesExpired.value += 1;
    if (kind === 'time-out' && expiresSilently) return;
    this.failed(this.task, keyLow, keyHigh, details.of(kind));
  }

  #announce(sourceTask: number): void {
    this.#replySource = sourceTask;
    if (this.#isAnnounced) return;
    this.#isAnnounced = true;
    this.#options.onReplies(this);
  }
}

import type { TaskId } from '../base/ids.ts';
import { AckFold } from '../wire/ack-fold.ts';
import { SettledRoots } from '../wire/settled-roots.ts';
import type { BatchPool } from './batch-pool.ts';
import { ControlSet } from './control-set.ts';
import { sendLostAcks } from './data-packet.ts';
import type { PeerLink } from './peer-link.ts';

/** What is about to be told of the trees of one spout task that is elsewhere. */
interface Account {
  readonly task: TaskId;
  link: PeerLink | undefined;
  /** Only while something has gathered. */
  fold: AckFold | undefined;
  readonly fails: SettledRoots;
  /** Whose set it is in: any task of this container that took part, as in Heron. */
  sourceTask: number;
  /** Discarded since there is no link. */
  lostBytes: number;
}

/** How much was lost with a process, nobody knows; all that counts is that it is not zero. */
const UNKNOWN_BYTES = 1;

/**
 * News of trees whose spouts are in other containers: what was sent, acked and failed here,
 * gathered over a turn and folded by root.
 *
 * A1. News costs no credit and never waits: it leaves by the end of the turn.
 * A2. While there is no link to a spout's stream manager, its news is discarded, and the first word
 *     on the next link says for which spout tasks. Their stream manager then fails their trees: an
 *     emit that is missing makes a tree look complete too early. (What was under way when a link
 *     broke, it knows of by itself.)
 */
export class RemoteAcks {
  readonly #pool: BatchPool;
  readonly #onNews: () => void;
  readonly #accounts = new Map<TaskId, Account>();
  #dirty: Account[] = [];
  readonly #freeFolds: AckFold[] = [];

  /** `onNews`: there is something to flush. */
  constructor(pool: BatchPool, onNews: () => void) {
    this.#pool = pool;
    this.#onNews = onNews;
  }

  /** A spout task elsewhere, and the link with its stream manager, if it is up. */
  open(task: TaskId, link: PeerLink | undefined): void {
    this.#accounts.set(task, {
      task,
      link,
      fold: undefined,
      fails: new SettledRoots(task),
      sourceTask: 0,
      lostBytes: 0,
    });
  }

  /** The task has left the plan: what has gathered still leaves, and nothing gathers any more. */
  close(task: TaskId): void {
    this.#accounts.delete(task);
  }

  /** `tasks` are the tasks of the link's stream manager. */
  linkUp(link: PeerLink, tasks: readonly TaskId[]): void {
    for (const task of tasks) {
      const account = this.#accounts.get(task);
      if (account === undefined) continue;
      account.link = link;
      if (account.lostBytes > 0) sendLostAcks(link.connection, task, account.lostBytes);
      account.lostBytes = 0;
    }
  }

  linkDown(tasks: readonly TaskId[]): void {
    for (const task of tasks) {
      const account = this.#accounts.get(task);
      if (account !== undefined) account.link = undefined;
    }
  }

  /** Something of a task's trees is lost for good: their stream manager is to fail them. */
  newsWasLost(task: TaskId): void {
    const account = this.#accounts.get(task);
    if (account === undefined) return;
    if (account.link === undefined) account.lostBytes += UNKNOWN_BYTES;
    else sendLostAcks(account.link.connection, task, UNKNOWN_BYTES);
  }

  /** A tuple of a tree was sent or acked. False when its task is no spout elsewhere. */
  add(
    kind: 'ack' | 'emit',
    sourceTask: number,
    task: TaskId,
    rootLow: number,
    rootHigh: number,
    xorLow: number,
    xorHigh: number,
  ): boolean {
    const account = this.#accounts.get(task);
    if (account === undefined) return false;
    if (account.fold === undefined) {
      account.fold = this.#freeFolds.pop() ?? new AckFold();
      this.#note(account, sourceTask);
    }
    account.fold.add(task, rootLow, rootHigh, xorLow, xorHigh, kind);
    if (account.fold.isFull) this.#send(account);
    return true;
  }

  /** A tuple of a tree failed. `detail` must stay as it is. False as with `add`. */
  fail(
    sourceTask: number,
    task: TaskId,
    rootLow: number,
    rootHigh: number,
    detail: Uint8Array,
  ): boolean {
    const account = this.#accounts.get(task);
    if (account === undefined) return false;
    if (account.fails.isEmpty) this.#note(account, sourceTask);
    account.fails.addFail(rootLow, rootHigh, detail);
    if (account.fails.isFull) this.#send(account);
    return true;
  }

  /** Sends what has gathered (A1). */
  flush(): void {
    const dirty = this.#dirty;
    this.#dirty = [];
    for (const account of dirty) this.#send(account);
  }

  #note(account: Account, sourceTask: number): void {
    account.sourceTask = sourceTask;
    if (this.#dirty.length === 0) this.#onNews();
    this.#dirty.push(account);
  }

  #send(account: Account): void {
    const { fold, fails, sourceTask, link } = account;
    if (fold !== undefined) {
      const set = new ControlSet(this.#pool, sourceTask, fold.byteLengthMax);
      set.end = fold.writeSet(set.bytes, set.start, sourceTask);
      if (link !== undefined) link.traffic.acksToPeer.value += fold.count;
      this.#give(account, set);
      fold.clear();
      account.fold = undefined;
      this.#freeFolds.push(fold);
    }
    if (fails.isEmpty) return;
    const set = new ControlSet(this.#pool, sourceTask, fails.byteLength(sourceTask));
    set.end = fails.writeSet(set.bytes, set.start, sourceTask);
    if (link !== undefined) link.traffic.failsToPeer.value += fails.failCount;
    this.#give(account, set);
    fails.clear();
  }

  #give(account: Account, set: ControlSet): void {
    if (account.link === undefined) {
      account.lostBytes += set.byteLength;
      set.release();
    } else account.link.send(set, account.task);
  }
}

import { assert } from '../base/assert.ts';
import type { TaskId } from '../base/ids.ts';
import type { Congestion, WatchedQueue } from './congestion.ts';
import type { OnLostRoots, SendWindow } from './credits.ts';
import type { Flushable, FlushSchedule } from './flush-schedule.ts';
import type { OutgoingSet } from './outgoing-set.ts';

/** A lane, to its outbox: what has an open batch. */
export interface OpenLane {
  /** Closes the batch and hands it over. */
  seal(): OutgoingSet;
}

/** The way to one task: its own connection here, or the link to its stream manager. */
export interface SetSink {
  /** Takes the set over: calls `release` once, when its bytes have left or are lost. */
  send(set: OutgoingSet, task: TaskId): void;
}

/**
 * Everything in this stream manager that is on its way to one destination task.
 *
 *     lanes, one for each local source      queue             way
 *     [open batch of task 3] ──┐
 *     [open batch of task 7] ──┴─ seal ─> [set][set][mark] ─> sink
 *
 * O1. Sets of one source leave in the order in which they were sealed, and a lane seals its batch
 *     before it opens the next: data, end markers and streams of one source keep their order.
 * O2. A set with data leaves only while there is a way and credit; a marker needs only the way.
 * O3. What cannot leave waits, however long the way is broken. It is bounded by C4 of credits.ts.
 * O4. An open batch is sealed when it is full or can leave; while it cannot, it goes on filling.
 * O5. Whoever watches (congestion.ts) hears of what waits and of what leaves as the last thing that
 *     a call does, and only data counts: markers and acks never make a task be behind.
 * O6. When the task has left the plan, what was sent to it counts as consumed: it had ended, and
 *     its credit may still be on the way. What has not left is lost; that is nothing, unless the
 *     task was taken away before its end.
 */
export class Outbox implements Flushable, WatchedQueue {
  readonly task: TaskId;
  readonly #window: SendWindow;
  readonly #schedule: FlushSchedule;
  #queue: OutgoingSet[] = [];
  /** Index of the oldest set in the queue; sets before it have left. */
  #head = 0;
  readonly #openLanes: OpenLane[] = [];
  #sink: SetSink | undefined;
  #hasBeenConnected = false;
  #isScheduled = false;
  #queuedBytes = 0;
  /** Of these, in sets with data. */
  #waitingBytes = 0;
  #waitingTuples = 0;
  /** In sets with data, since the beginning. */
  #sentBytes = 0;
  #congestion: Congestion | undefined;

  constructor(task: TaskId, window: SendWindow, schedule: FlushSchedule) {
    this.task = task;
    this.#window = window;
    this.#schedule = schedule;
  }

  /** Bytes of the sets that wait. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  get queuedSets(): number {
    return this.#queue.length - this.#head;
  }

  get underWayBytes(): number {
    return this.#window.underWayBytes;
  }

  /** Whether its task is behind; never where nobody watches. */
  get isBehind(): boolean {
    return this.#congestion !== undefined && this.#congestion.isBehind;
  }

  get isAway(): boolean {
    return this.#hasBeenConnected && this.#sink === undefined;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get tuplesOut(): number {
    return this.#waitingTuples + this.#window.underWayTuples;
  }

  get acceptedBytes(): number {
    return this.#sentBytes + this.#waitingBytes;
  }

  get takenBytes(): number {
    return this.#sentBytes - this.#window.underWayBytes;
  }

  /** From now on `congestion` hears what happens here (O5); undefined: nobody does. */
  watch(congestion: Congestion | undefined): void {
    this.#congestion = congestion;
  }

  /** The way is there: what waited leaves. */
  connect(sink: SetSink): void {
    this.#sink = sink;
    this.#hasBeenConnected = true;
    this.flush();
    this.#congestion?.judge();
  }

  /** The way broke. Returns how many tuples may have been lost on it; `onLost` hears of trees. */
  disconnect(onLost?: OnLostRoots): number {
    this.#sink = undefined;
    const lostTuples = this.#window.reset(onLost);
    this.#congestion?.judge();
    return lostTuples;
  }

  /**
   * The task has left the plan (O6). Returns how many tuples waited for it, which are lost;
   * `onLost` hears of their trees.
   */
  close(onLost: OnLostRoots): number {
    this.#sink = undefined;
    this.#congestion = undefined;
    for (const lane of this.#openLanes.splice(0)) this.add(lane.seal());
    const waiting = this.#queue.slice(this.#head);
    const lostTuples = this.#waitingTuples;
    this.#sentBytes += this.#waitingBytes;
    this.#queue = [];
    this.#head = 0;
    this.#queuedBytes = 0;
    this.#waitingBytes = 0;
    this.#waitingTuples = 0;
    this.#window.reset();
    for (const set of waiting) {
      if (set.roots !== undefined) onLost(set.roots);
      set.onSent();
      set.release();
    }
    return lostTuples;
  }

  /** Credit for this task has come back. */
  refill(bytes: number): void {
    this.#window.refill(bytes);
    this.#drain();
  }

  /** Credit has come back for sets that were lost with the task's process. */
  lose(bytes: number, onLost: OnLostRoots): void {
    this.#window.lose(bytes, onLost);
    this.#drain();
  }

  /** A lane has begun a batch. It is asked to seal it by the end of the turn at the latest. */
  laneOpened(lane: OpenLane): void {
    this.#openLanes.push(lane);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#schedule.addOutbox(this);
  }

  /** A lane has sealed its batch before it was asked to. */
  laneSealed(lane: OpenLane, set: OutgoingSet): void {
    const at = this.#openLanes.indexOf(lane);
    assert(at !== -1, 'only an open lane seals its batch');
    this.#openLanes.splice(at, 1);
    this.add(set);
  }

  /** Appends a set behind everything that waits; sends it at once if it may leave (O1, O2). */
  add(set: OutgoingSet): void {
    if (this.#head === this.#queue.length && this.#mayLeave(set)) {
      this.#send(set);
      return;
    }
    set.compact();
    this.#queue.push(set);
    this.#queuedBytes += set.byteLength;
    if (set.tupleCount === 0) return;
    this.#waitingBytes += set.byteLength;
    this.#waitingTuples += set.tupleCount;
    this.#congestion?.onWaiting(this.#waitingBytes);
  }

  flush(): void {
    this.#isScheduled = false;
    this.#drain();
  }

  #drain(): void {
    this.#drainQueue();
    // What stopped the queue stops the lanes, too. Sending may come back here, or take the way
    // away, before it returns: each round looks afresh.
    while (this.#sink !== undefined && this.#window.isOpen) {
      const lane = this.#openLanes.shift();
      if (lane === undefined) break;
      this.#send(lane.seal());
    }
    this.#congestion?.onProgress(this.#waitingBytes);
  }

  #drainQueue(): void {
    while (this.#head < this.#queue.length) {
      const set = this.#queue[this.#head] as OutgoingSet;
      if (!this.#mayLeave(set)) break;
      this.#head += 1;
      this.#queuedBytes -= set.byteLength;
      if (set.tupleCount > 0) this.#waitingBytes -= set.byteLength;
      this.#waitingTuples -= set.tupleCount;
      this.#send(set);
    }
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
    } else if (this.#head >= 64 && this.#head * 2 >= this.#queue.length) {
      // Half of the list has left: the move costs as much as those that left, once.
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
  }

  #mayLeave(set: OutgoingSet): boolean {
    return this.#sink !== undefined && (set.tupleCount === 0 || this.#window.isOpen);
  }

  #send(set: OutgoingSet): void {
    if (set.tupleCount > 0) {
      this.#window.spend(set.byteLength, set.tupleCount, set.roots);
      this.#sentBytes += set.byteLength;
    }
    assert(this.#sink !== undefined, 'O2: a set leaves only while there is a way');
    set.onSent();
    this.#sink.send(set, this.task);
  }
}

import { assert } from '../base/assert.ts';
import type { TaskId } from '../base/ids.ts';
import type { SendWindow } from './credits.ts';
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
 */
export class Outbox implements Flushable {
  readonly task: TaskId;
  readonly #window: SendWindow;
  readonly #schedule: FlushSchedule;
  #queue: OutgoingSet[] = [];
  /** Index of the oldest set in the queue; sets before it have left. */
  #head = 0;
  readonly #openLanes: OpenLane[] = [];
  #sink: SetSink | undefined;
  #isScheduled = false;

  constructor(task: TaskId, window: SendWindow, schedule: FlushSchedule) {
    this.task = task;
    this.#window = window;
    this.#schedule = schedule;
  }

  /** Bytes of the sets that wait; walks over them, for whoever watches the bounds. */
  get queuedBytes(): number {
    let bytes = 0;
    for (let at = this.#head; at < this.#queue.length; at += 1) {
      bytes += this.#queue[at]?.byteLength ?? 0;
    }
    return bytes;
  }

  get underWayBytes(): number {
    return this.#window.underWayBytes;
  }

  /** The way is there: what waited leaves. */
  connect(sink: SetSink): void {
    this.#sink = sink;
    this.flush();
  }

  /** The way broke. Returns how many tuples may have been lost on it. */
  disconnect(): number {
    this.#sink = undefined;
    return this.#window.reset();
  }

  /** Credit for this task has come back. */
  refill(bytes: number): void {
    this.#window.refill(bytes);
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
  }

  #drainQueue(): void {
    while (this.#head < this.#queue.length) {
      const set = this.#queue[this.#head] as OutgoingSet;
      if (!this.#mayLeave(set)) break;
      this.#head += 1;
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
    if (set.tupleCount > 0) this.#window.spend(set.byteLength, set.tupleCount);
    assert(this.#sink !== undefined, 'O2: a set leaves only while there is a way');
    set.onSent();
    this.#sink.send(set, this.task);
  }
}

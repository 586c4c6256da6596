import type { TaskId } from '../base/ids.ts';
import type { Histogram } from '../metrics/histogram.ts';
import { BacklogAge } from './backlog-age.ts';

/*
  When a task is behind, as one stream manager sees it. It is when too much waits for it here, when
  what waits or what it was given is too old, or when it was connected and is away. The marks lie
  apart, so that a queue that hovers around one of them does not go back and forth.

                      not behind                 behind
     waiting bytes    ─────────── low ─ ─ ─ high ──────>
     oldest bytes     ───────── age/2 ─ ─ ─ age ───────>
*/

/** Where back pressure begins and ends. */
export interface CongestionMarks {
  /** Bytes that wait for a task when it begins to be behind. */
  readonly highBytes: number;
  /** It goes on as long as more than this waits. */
  readonly lowBytes: number;
  /** Age of the oldest bytes not taken when it begins; it goes on down to half of that. */
  readonly ageMs: number;
}

/** What one stream manager holds for one task at a moment. */
export interface Backlog {
  /** The way to the task was there and is not now: its process or link is gone, and is needed. */
  readonly isAway: boolean;
  /** In this stream manager, and kept from leaving. */
  readonly waitingBytes: number;
  /**
   * Waiting or under way: how long the task has not been done with the oldest of it; 0 while there
   * is no more than it may be working on just now.
   */
  readonly oldestMs: number;
}

/** Pure: whether the task is behind, given whether it was. */
export function isBehindBy(marks: CongestionMarks, was: boolean, backlog: Backlog): boolean {
  const { isAway, waitingBytes, oldestMs } = backlog;
  if (isAway) return true;
  if (was) return waitingBytes > marks.lowBytes || oldestMs >= marks.ageMs / 2;
  return waitingBytes >= marks.highBytes || oldestMs >= marks.ageMs;
}

/** Why a task is called behind, for logs. */
export type CongestionCause = 'away' | 'bytes' | 'age';

export function causeOf(
  marks: CongestionMarks,
  { isAway, waitingBytes }: Backlog,
): CongestionCause {
  if (isAway) return 'away';
  return waitingBytes >= marks.highBytes ? 'bytes' : 'age';
}

/** What is asked of an outbox; all of it costs the same however much waits. */
export interface WatchedQueue {
  readonly task: TaskId;
  /** The way to the task has been there, and is not now. */
  readonly isAway: boolean;
  readonly waitingBytes: number;
  /** Tuples that wait or are under way. */
  readonly tuplesOut: number;
  /** Bytes of all data that was ever meant for the task; only grows. */
  readonly acceptedBytes: number;
  /** Of these, the ones that the task has taken or that were lost on the way. */
  readonly takenBytes: number;
}

export interface CongestionOptions {
  readonly marks: CongestionMarks;
  /** So many tuples it may be working on at once: that they are old says nothing of queues. */
  readonly workingMax: number;
  /** Whether anything may still come for it here; if not, nobody has to wait for its return. */
  readonly awaitsTuples: () => boolean;
  readonly now: () => number;
  readonly onChange: (congestion: Congestion) => void;
  /** Gets the age of the oldest tuples at each sample at which there are some, in ms. */
  readonly ages?: Histogram;
}

/**
 * Watches one outbox. The outbox calls when something has changed that may matter; age passes
 * without any event, so `sample` is called at regular intervals.
 */
export class Congestion {
  readonly marks: CongestionMarks;
  /** Kept up to date within the call that changes it; the dispatcher drops by it. */
  isBehind = false;
  readonly #queue: WatchedQueue;
  readonly #options: CongestionOptions;
  readonly #age = new BacklogAge();

  constructor(queue: WatchedQueue, options: CongestionOptions) {
    this.marks = options.marks;
    this.#queue = queue;
    this.#options = options;
  }

  get task(): TaskId {
    return this.#queue.task;
  }

  get backlog(): Backlog {
    const { waitingBytes, takenBytes, tuplesOut } = this.#queue;
    const { workingMax, now, awaitsTuples } = this.#options;
    const isAway = this.#queue.isAway && awaitsTuples();
    const oldestMs = tuplesOut <= workingMax ? 0 : this.#age.ageMs(now(), takenBytes);
    return { isAway, waitingBytes, oldestMs };
  }

  /** Something waits that may not leave. On the path of data: one comparison in the usual case. */
  onWaiting(waitingBytes: number): void {
    if (!this.isBehind && waitingBytes >= this.marks.highBytes) this.judge();
  }

  /** Something has left or was taken. */
  onProgress(waitingBytes: number): void {
    if (this.isBehind && waitingBytes <= this.marks.lowBytes) this.judge();
  }

  /** Once every `ageMs / 8` (A1 of backlog-age.ts). */
  sample(): void {
    const { acceptedBytes, takenBytes } = this.#queue;
    const { now, ages } = this.#options;
    const nowMs = now();
    this.#age.sample(nowMs, acceptedBytes, takenBytes);
    if (ages !== undefined && takenBytes < acceptedBytes) {
      ages.record(this.#age.ageMs(nowMs, takenBytes));
    }
    this.judge();
  }

  judge(): void {
    const isBehind = isBehindBy(this.marks, this.isBehind, this.backlog);
    if (isBehind === this.isBehind) return;
    this.isBehind = isBehind;
    this.#options.onChange(this);
  }
}

import { assertDefined } from '../base/assert.ts';
import type { Clock, Timer } from '../base/clock.ts';
import type { TaskId } from '../base/ids.ts';
import type { Congestion } from './congestion.ts';

/** At most ten starts a second for a task: a queue that fills and empties faster is no news. */
export const START_INTERVAL_MS = 100;
/** A lease is renewed when a third of it has passed: two renewals may be late or lost. */
export const RENEWALS_PER_LEASE = 3;

export type AnnouncementStep = 'start' | 'stop' | 'wait' | 'none';

/** Pure: what to do about a task. `sinceStartMs` is the time since its last start. */
export function announcementStep(
  isBehind: boolean,
  isAnnounced: boolean,
  sinceStartMs: number,
): AnnouncementStep {
  if (isBehind === isAnnounced) return 'none';
  if (isAnnounced) return 'stop';
  return sinceStartMs >= START_INTERVAL_MS ? 'start' : 'wait';
}

export interface AnnouncerEvents {
  onStart(congestion: Congestion): void;
  onRenew(congestion: Congestion): void;
  onStop(congestion: Congestion): void;
}

/** What has been said of one task. */
interface Said {
  readonly congestion: Congestion;
  isAnnounced: boolean;
  lastStartMs: number;
  /** Runs while the next start has to wait. */
  waiting: Timer | undefined;
}

/**
 * Decides when others hear that a task is behind.
 *
 * A1. For each task `onStart` and `onStop` alternate, beginning with a start, and starts are at
 *     least `START_INTERVAL_MS` apart. Credits bound what waits until a start may be said.
 * A2. While a task is announced, `onRenew` comes three times a lease.
 * A3. All of them come in a turn of their own, never out of the middle of moving tuples: whoever
 *     is told may send, and may lose a connection by that.
 */
export class PressureAnnouncer {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #events: AnnouncerEvents;
  readonly #said = new Map<TaskId, Said>();
  #changed = new Set<Congestion>();
  #settling: Timer | undefined;
  #renewing: Timer | undefined;
  #announced = 0;
  #isClosed = false;

  constructor(clock: Clock, leaseMs: number, events: AnnouncerEvents) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#events = events;
  }

  get announced(): readonly Congestion[] {
    return [...this.#said.values()]
      .filter(({ isAnnounced }) => isAnnounced)
      .map(({ congestion }) => congestion);
  }

  /** A task has begun to be behind, or has caught up. */
  onChange(congestion: Congestion): void {
    if (this.#isClosed) return;
    this.#changed.add(congestion);
    this.#settling ??= this.#clock.soon(() => this.#settle());
  }

  /** The task gets no tuples any more: what was said of it is taken back. */
  forget(congestion: Congestion): void {
    this.#changed.delete(congestion);
    const said = this.#said.get(congestion.task);
    if (said === undefined) return;
    said.waiting?.cancel();
    if (said.isAnnounced) this.#stop(said);
    this.#said.delete(congestion.task);
  }

  /** No timer is left, and nothing is said any more, whatever connections end from now on. */
  close(): void {
    this.#isClosed = true;
    this.#settling?.cancel();
    this.#renewing?.cancel();
    for (const { waiting } of this.#said.values()) waiting?.cancel();
  }

  #settle(): void {
    this.#settling = undefined;
    const changed = this.#changed;
    this.#changed = new Set();
    for (const congestion of changed) this.#step(this.#saidOf(congestion));
  }

  #step(said: Said): void {
    const { congestion, isAnnounced, lastStartMs } = said;
    said.waiting?.cancel();
    said.waiting = undefined;
    const sinceStartMs = this.#clock.now() - lastStartMs;
    switch (announcementStep(congestion.isBehind, isAnnounced, sinceStartMs)) {
      case 'start':
        this.#start(said);
        break;
      case 'stop':
        this.#stop(said);
        break;
      case 'wait':
        said.waiting = this.#clock.after(START_INTERVAL_MS - sinceStartMs, () => this.#step(said));
        break;
      case 'none':
    }
  }

  #start(said: Said): void {
    said.isAnnounced = true;
    said.lastStartMs = this.#clock.now();
    this.#announced += 1;
    this.#renewing ??= this.#clock.every(this.#leaseMs / RENEWALS_PER_LEASE, () => {
      for (const congestion of this.announced) this.#events.onRenew(congestion);
    });
    this.#events.onStart(said.congestion);
  }

  #stop(said: Said): void {
    said.isAnnounced = false;
    this.#announced -= 1;
    if (this.#announced === 0) {
      assertDefined(this.#renewing, 'A2: what is announced is renewed').cancel();
      this.#renewing = undefined;
    }
    this.#events.onStop(said.congestion);
  }

  #saidOf(congestion: Congestion): Said {
    const known = this.#said.get(congestion.task);
    if (known !== undefined) return known;
    const made: Said = {
      congestion,
      isAnnounced: false,
      lastStartMs: Number.NEGATIVE_INFINITY,
      waiting: undefined,
    };
    this.#said.set(congestion.task, made);
    return made;
  }
}

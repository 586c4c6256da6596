import type { Clock, Timer } from '../base/clock.ts';
import type { StreamManagerId, TaskId } from '../base/ids.ts';
import type { SlowTask } from './pressure-signal.ts';

/** One reason for spouts to hold: a task that is behind, as one stream manager says. */
export interface Hold extends SlowTask {
  /** Who says so. */
  readonly streamManager: StreamManagerId;
  readonly sinceMs: number;
  /** When it ends by itself, by the clock's `now`; undefined: with stop or disconnect only. */
  readonly untilMs: number | undefined;
}

export interface HoldBookEvents {
  onHold(hold: Hold): void;
  onRelease(hold: Hold): void;
}

/**
 * Who asks for spouts to hold, this stream manager itself included.
 *
 * B1. Holds are counted by stream manager and task: what several ask for ends when the last one
 *     says so, and to say the same again changes nothing but the lease.
 * B2. A lease that is not renewed ends: a stream manager that is dead, stopped or cut off cannot
 *     leave spouts held. Without a lease, which only foreign ones do, the connection is the limit.
 * B3. When a stream manager's connection ends, all that it asked for ends. It says it again on its
 *     next one.
 */
export class HoldBook {
  readonly #clock: Clock;
  readonly #events: HoldBookEvents;
  readonly #holds = new Map<StreamManagerId, Map<TaskId | undefined, BookedHold>>();
  #isClosed = false;

  constructor(clock: Clock, events: HoldBookEvents) {
    this.#clock = clock;
    this.#events = events;
  }

  /** Oldest first of each stream manager. */
  get all(): readonly Hold[] {
    return Array.from(this.#holds.values(), (holds) => [...holds.values()]).flat();
  }

  /** A start message, or its renewal. */
  start(streamManager: StreamManagerId, slow: SlowTask, leaseMs: number | undefined): void {
    if (this.#isClosed) return;
    const holds = this.#holdsOf(streamManager);
    const known = holds.get(slow.task);
    if (known !== undefined) {
      this.#renew(known, leaseMs);
      return;
    }
    const { task, component } = slow;
    const hold: BookedHold = {
      streamManager,
      task,
      component,
      sinceMs: this.#clock.now(),
      untilMs: undefined,
      expiry: undefined,
    };
    holds.set(task, hold);
    this.#renew(hold, leaseMs);
    this.#events.onHold(hold);
  }

  /** A stop message. One without a task ends everything that its sender asked for. */
  stop(streamManager: StreamManagerId, task: TaskId | undefined): void {
    if (task === undefined) {
      this.forget(streamManager);
      return;
    }
    const hold = this.#holds.get(streamManager)?.get(task);
    if (hold !== undefined) this.#end(hold);
  }

  /** B3. */
  forget(streamManager: StreamManagerId): void {
    for (const hold of this.#holds.get(streamManager)?.values() ?? []) this.#end(hold);
  }

  /** No timer is left, and none begins. */
  close(): void {
    this.#isClosed = true;
    for (const { expiry } of this.#booked()) expiry?.cancel();
  }

  #renew(hold: BookedHold, leaseMs: number | undefined): void {
    hold.expiry?.cancel();
    hold.expiry =
      leaseMs === undefined ? undefined : this.#clock.after(leaseMs, () => this.#end(hold));
    hold.untilMs = leaseMs === undefined ? undefined : this.#clock.now() + leaseMs;
  }

  #end(hold: BookedHold): void {
    hold.expiry?.cancel();
    const holds = this.#holdsOf(hold.streamManager);
    holds.delete(hold.task);
    if (holds.size === 0) this.#holds.delete(hold.streamManager);
    this.#events.onRelease(hold);
  }

  #holdsOf(streamManager: StreamManagerId): Map<TaskId | undefined, BookedHold> {
    const known = this.#holds.get(streamManager);
    if (known !== undefined) return known;
    const made = new Map<TaskId | undefined, BookedHold>();
    this.#holds.set(streamManager, made);
    return made;
  }

  *#booked(): Iterable<BookedHold> {
    for (const holds of this.#holds.values()) yield* holds.values();
  }
}

interface BookedHold extends Hold {
  untilMs: number | undefined;
  expiry: Timer | undefined;
}

import type { Clock, Timer } from '../base/clock.ts';
import type { TaskId } from '../base/ids.ts';

/** How often it is looked whether something has been consumed, while anybody retires. */
const CHECK_PERIOD_MS = 20;

/** A queue that holds what a task has sent; both numbers only grow (congestion.ts). */
export interface DrainedQueue {
  readonly acceptedBytes: number;
  readonly takenBytes: number;
}

/** What a task was given. */
export interface GivenSets {
  readonly unconsumedBytes: number;
  readonly waitingBytes: number;
}

interface Retiring {
  readonly given: GivenSets;
  /** Until each queue has been relieved of so many bytes, something of the task is there. */
  readonly marks: readonly { readonly queue: DrainedQueue; readonly takenBytes: number }[];
}

export interface RetirementWatchOptions {
  readonly clock: Clock;
  readonly onRetired: (task: TaskId) => void;
}

/**
 * When the tasks of this container that an update takes away have really gone.
 *
 * R1. A task is retired when its end has come, all that it was given has been consumed, and so has
 *     all that waited for others when its end came, by whomever that was sent: queues are in order,
 *     so nothing of the task is left in any of them.
 * R2. A task that is retired stays so until it is forgotten: when it has left the plan.
 * R3. It is looked at now and then: the way of tuples knows nothing of this, and pays nothing.
 */
export class RetirementWatch {
  readonly #options: RetirementWatchOptions;
  readonly #retiring = new Map<TaskId, Retiring>();
  readonly #retired = new Set<TaskId>();
  #checks: Timer | undefined;

  constructor(options: RetirementWatchOptions) {
    this.#options = options;
  }

  isRetired(task: TaskId): boolean {
    return this.#retired.has(task);
  }

  /** The end of a retiring task is there; `queues` hold what it has sent. Repeats are harmless. */
  ended(task: TaskId, given: GivenSets, queues: readonly DrainedQueue[]): void {
    if (this.#retired.has(task) || this.#retiring.has(task)) return;
    const marks = queues.map((queue) => ({ queue, takenBytes: queue.acceptedBytes }));
    this.#retiring.set(task, { given, marks });
    this.#checks ??= this.#options.clock.every(CHECK_PERIOD_MS, () => this.#check());
  }

  forget(task: TaskId): void {
    this.#retiring.delete(task);
    this.#retired.delete(task);
    this.#rest();
  }

  /** Stops its timer; idempotent. */
  close(): void {
    this.#retiring.clear();
    this.#rest();
  }

  #check(): void {
    for (const [task, retiring] of this.#retiring) {
      if (!hasGone(retiring)) continue;
      this.#retiring.delete(task);
      this.#retired.add(task);
      this.#options.onRetired(task);
    }
    this.#rest();
  }

  #rest(): void {
    if (this.#retiring.size > 0) return;
    this.#checks?.cancel();
    this.#checks = undefined;
  }
}

/** R1 */
function hasGone({ given, marks }: Retiring): boolean {
  if (given.unconsumedBytes > 0 || given.waitingBytes > 0) return false;
  return marks.every(({ queue, takenBytes }) => queue.takenBytes >= takenBytes);
}

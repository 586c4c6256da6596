import type { Clock, Timer } from '../../base/clock.ts';
import type { Activity, Callback, TaskStatusReader } from '../task-status.ts';

/** Looks per limit: a blocked task is found within the limit and a quarter of it. */
const LOOKS_PER_LIMIT = 4;

/** A call of user code that takes too long. */
export interface BlockedTask {
  /** `none` when it is no method of the component but a callback of a timer or a promise. */
  readonly callback: Callback;
  readonly how: Blockage;
  readonly blockedMs: number;
}

/** `thread`: the call does not return; `promise`: it returned one that does not settle. */
export type Blockage = 'thread' | 'promise';

export interface BlockedTaskWatchOptions {
  readonly clock: Clock;
  readonly status: TaskStatusReader;
  /** The setting `heron.instance.blocked.task.ms`. */
  readonly limitMs: number;
  /** Sends a number to the task's event loop, which puts it into the status. */
  readonly ping: (number: number) => void;
  readonly onBlocked: (task: BlockedTask) => void;
}

/**
 * Notices when user code neither returns nor settles, from a thread that it cannot block.
 *
 * W1. Each hang is reported once, and again only after the task has moved on.
 * W2. A task that waits inside `emit` for room is slowed down by others, not blocked (ruling R5).
 * W3. An event loop that does not answer is busy with a call that does not return. This also finds
 *     callbacks of the user that the engine has not called.
 */
export class BlockedTaskWatch {
  readonly #options: BlockedTaskWatchOptions;
  readonly #timer: Timer;
  #pings = 0;
  #progress = -1;
  #movedAt: number;
  #isReported = false;

  constructor(options: BlockedTaskWatchOptions) {
    const { clock, limitMs } = options;
    this.#options = options;
    this.#movedAt = clock.now();
    this.#timer = clock.every(limitMs / LOOKS_PER_LIMIT, () => this.#look());
  }

  /**
   * What user code is doing, should it be blocked; exact once `ping` has had time to be answered.
   */
  get state(): Pick<BlockedTask, 'callback' | 'how'> {
    const { activity, callback } = this.#options.status;
    return {
      callback: isUserCode(activity) ? callback : 'none',
      how: this.#isAnswered ? 'promise' : 'thread',
    };
  }

  /** Asks the task's event loop, unless it still owes an answer. */
  ping(): void {
    if (!this.#isAnswered) return;
    this.#pings += 1;
    this.#options.ping(this.#pings);
  }

  close(): void {
    this.#timer.cancel();
  }

  get #isAnswered(): boolean {
    return this.#options.status.answer === this.#pings;
  }

  #look(): void {
    const { clock, status, limitMs, onBlocked } = this.#options;
    const { progress, activity } = status;
    const isIdle = !isUserCode(activity) && this.#isAnswered;
    if (progress !== this.#progress || isIdle || activity === 'room') {
      this.#progress = progress;
      this.#movedAt = clock.now();
      this.#isReported = false;
    }
    const blockedMs = clock.now() - this.#movedAt;
    if (blockedMs >= limitMs && !this.#isReported) {
      this.#isReported = true;
      onBlocked({ ...this.state, blockedMs });
    }
    this.ping();
  }
}

function isUserCode(activity: Activity): boolean {
  return activity === 'user-code' || activity === 'promise';
}

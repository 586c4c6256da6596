import type { Clock, Timer } from '../../base/clock.ts';
import type { Activity, Callback, TaskStatusReader } from '../task-status.ts';

/** Looks per limit: a blocked task is found within the limit and a quarter of it. */
const LOOKS_PER_LIMIT = 4;

/** A call of user code that takes too long. */
export interface BlockedTask {
  readonly callback: Callback;
  /** `thread`: the call does not return; `promise`: it returned one that does not settle. */
  readonly how: 'thread' | 'promise';
  readonly blockedMs: number;
}

/**
 * Notices when user code neither returns nor settles, from a thread that it cannot block.
 *
 * W1. Each hang is reported once, and again only after the task has moved on.
 * W2. A task that waits inside `emit` for room is slowed down by others, not blocked (ruling R5).
 */
export class BlockedTaskWatch {
  readonly #clock: Clock;
  readonly #status: TaskStatusReader;
  readonly #limitMs: number;
  readonly #onBlocked: (task: BlockedTask) => void;
  readonly #timer: Timer;
  #progress = -1;
  #since = 0;
  #reported = false;

  constructor(
    clock: Clock,
    status: TaskStatusReader,
    limitMs: number,
    onBlocked: (task: BlockedTask) => void,
  ) {
    this.#clock = clock;
    this.#status = status;
    this.#limitMs = limitMs;
    this.#onBlocked = onBlocked;
    this.#timer = clock.every(limitMs / LOOKS_PER_LIMIT, () => this.#look());
  }

  /** Milliseconds since the task last moved, while it is inside user code; 0 otherwise. */
  get blockedMs(): number {
    return this.#reported ? this.#clock.now() - this.#since : 0;
  }

  close(): void {
    this.#timer.cancel();
  }

  #look(): void {
    const { progress, activity, callback } = this.#status;
    const now = this.#clock.now();
    if (progress !== this.#progress || !isUserCode(activity)) {
      this.#progress = progress;
      this.#since = now;
      this.#reported = false;
      return;
    }
    const blockedMs = now - this.#since;
    if (this.#reported || blockedMs < this.#limitMs) return;
    this.#reported = true;
    const how = activity === 'promise' ? 'promise' : 'thread';
    this.#onBlocked({ callback, how, blockedMs });
  }
}

function isUserCode(activity: Activity): boolean {
  return activity === 'user-code' || activity === 'promise';
}

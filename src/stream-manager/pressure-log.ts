import type { Clock } from '../base/clock.ts';
import type { ComponentName, TaskId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import { type Congestion, causeOf } from './congestion.ts';

/** A task that is at its limit is behind several times a second; one line in so long tells it. */
const QUIET_MS = 10_000;

interface Spoken {
  /** When the last begin was logged. */
  beganMs: number;
  /** Whether the end belongs to a begin in the log. */
  isOpen: boolean;
  /** Begins since the last one in the log. */
  unsaid: number;
}

/**
 * Begin and end of being behind, in the log. Of a task that goes back and forth, a begin is
 * logged once in `QUIET_MS`, with the number of those that were not, and an end when its begin was.
 */
export class PressureLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #spoken = new Map<TaskId, Spoken>();

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  begin({ task, backlog, marks }: Congestion, component: ComponentName | undefined): void {
    const now = this.#clock.now();
    const spoken = this.#spoken.get(task);
    if (spoken !== undefined && now - spoken.beganMs < QUIET_MS) {
      spoken.unsaid += 1;
      spoken.isOpen = false;
      return;
    }
    this.#spoken.set(task, { beganMs: now, isOpen: true, unsaid: 0 });
    this.#logger.info('a task is behind: spouts hold', {
      component,
      task,
      cause: causeOf(marks, backlog),
      bytes: backlog.waitingBytes,
      ageMs: Math.round(backlog.oldestMs),
      ...(spoken !== undefined && spoken.unsaid > 0 && { timesBefore: spoken.unsaid }),
    });
  }

  end({ task, backlog }: Congestion, component: ComponentName | undefined): void {
    const spoken = this.#spoken.get(task);
    if (spoken === undefined || !spoken.isOpen) return;
    spoken.isOpen = false;
    this.#logger.info('a task has caught up: spouts go on', {
      component,
      task,
      bytes: backlog.waitingBytes,
      ageMs: Math.round(backlog.oldestMs),
      heldMs: Math.round(this.#clock.now() - spoken.beganMs),
    });
  }
}

import type { TaskId } from '../base/ids.ts';
import { type OnLostRoots, SendWindow } from './credits.ts';
import type { OutboxHoldings } from './data-holdings.ts';
import type { FlushSchedule } from './flush-schedule.ts';
import { Outbox } from './outbox.ts';
import type { PlanChange } from './plan-change.ts';

/** One outbox for every task of the plan in force; that of a task that stays goes on. */
export class Outboxes {
  readonly #windowBytes: number;
  readonly #schedule: FlushSchedule;
  readonly #outboxes = new Map<TaskId, Outbox>();

  constructor(windowBytes: number, schedule: FlushSchedule) {
    this.#windowBytes = windowBytes;
    this.#schedule = schedule;
  }

  get all(): ReadonlyMap<TaskId, Outbox> {
    return this.#outboxes;
  }

  get(task: TaskId): Outbox | undefined {
    return this.#outboxes.get(task);
  }

  get holdings(): readonly OutboxHoldings[] {
    return Array.from(this.#outboxes.values(), ({ task, queuedBytes, underWayBytes }) => ({
      task,
      queuedBytes,
      underWayBytes,
    }));
  }

  /** Closes those of tasks that are gone. Returns how many tuples were lost in them. */
  remove({ gone }: PlanChange, onLostOf: (task: TaskId) => OnLostRoots): number {
    let lostTuples = 0;
    for (const { task } of gone) {
      lostTuples += this.#outboxes.get(task)?.close(onLostOf(task)) ?? 0;
      this.#outboxes.delete(task);
    }
    return lostTuples;
  }

  /** Opens those of tasks that are new; none has a way yet. */
  add({ added }: PlanChange): void {
    for (const { task } of added) {
      const window = new SendWindow(this.#windowBytes);
      this.#outboxes.set(task, new Outbox(task, window, this.#schedule));
    }
  }
}

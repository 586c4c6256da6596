import type { TaskId } from '../../base/ids.ts';

/**
 * Knows when all input of one task has ended (design R3).
 *
 * E1. A marker counts once however often it comes: stream managers send it again after a reconnect.
 * E2. A task without upstream tasks never ends by itself.
 */
export class EndTracker {
  readonly #awaited: Set<TaskId>;
  readonly #hadUpstream: boolean;

  constructor(upstreamTasks: Iterable<TaskId>) {
    this.#awaited = new Set(upstreamTasks);
    this.#hadUpstream = this.#awaited.size > 0;
  }

  /** Takes one marker; returns true when every upstream task has ended. */
  ended(task: TaskId): boolean {
    this.#awaited.delete(task);
    return this.isComplete;
  }

  get isComplete(): boolean {
    return this.#hadUpstream && this.#awaited.size === 0;
  }
}

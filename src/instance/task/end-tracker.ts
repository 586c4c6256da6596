import type { ComponentName, TaskId } from '../../base/ids.ts';
import type { PlanIndex } from '../../model/plan-index.ts';

/**
 * Knows when all input of one task has ended (design R3).
 *
 * E1. A marker counts once however often it comes: stream managers send it again after a reconnect.
 * E2. A task without upstream tasks never ends by itself.
 * E3. Which tasks are upstream is what the newest plan says. One that has left it is not waited for
 *     any more; one that is new is, unless its marker came before the plan.
 * E4. Tuples of a new task may come before the plan that adds it. It is waited for from then on.
 *     Ids are given in ascending order and once: one above all that have been in a plan is new, any
 *     other one that is not in it has left.
 */
export class EndTracker {
  readonly #component: ComponentName;
  readonly #ended = new Set<TaskId>();
  /** All tasks that are upstream, or have been, or are to be (E4). */
  readonly #known = new Set<TaskId>();
  #hasUpstream = false;
  #awaited = new Set<TaskId>();
  /** The highest id that has been in a plan. */
  #lastTask = 0;

  constructor(plan: PlanIndex, component: ComponentName) {
    this.#component = component;
    this.follow(plan);
  }

  /** The plan is another one from now on (E3). */
  follow(plan: PlanIndex): void {
    const upstream = plan.upstreamTasks(this.#component);
    this.#lastTask = plan.plan.instances.reduce(
      (last, { task }) => Math.max(last, task),
      this.#lastTask,
    );
    const toCome = [...this.#known].filter((task) => task > this.#lastTask);
    this.#hasUpstream = upstream.length > 0;
    this.#awaited = new Set([...upstream, ...toCome].filter((task) => !this.#ended.has(task)));
    for (const task of upstream) this.#known.add(task);
  }

  /** Tuples of a task have come; asked once for each set. */
  heard(task: TaskId): void {
    if (this.#known.has(task)) return;
    this.#known.add(task);
    if (task > this.#lastTask && !this.#ended.has(task)) this.#awaited.add(task);
  }

  /** Takes one marker; returns true when every upstream task has ended. */
  ended(task: TaskId): boolean {
    this.#ended.add(task);
    this.#awaited.delete(task);
    return this.isComplete;
  }

  get isComplete(): boolean {
    return this.#hasUpstream && this.#awaited.size === 0;
  }
}

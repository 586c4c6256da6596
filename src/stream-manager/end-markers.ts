import type { TaskId } from '../base/ids.ts';
import type { PlanIndex } from '../model/plan-index.ts';

/*
  Which tasks have sent their last tuple, as state. A marker that was lost with a connection is sent
  again from here; receivers keep a set, so a repeated one is harmless.

  E1. The end of a local task is known for all its destinations at once: its marker stands behind
      its data in each of their queues.
  E2. The end of a remote task is known for each destination by itself: its marker may have come for
      one of our tasks while its data for another one is still under way.
  E3. Towards a task that retires a local task has ended as soon as a plan says so: that one gets no
      more tuples.
  E4. Nothing is forgotten before its task leaves the plan.
*/

export class EndMarkers {
  readonly #local = new Set<TaskId>();
  readonly #localByDestination = new Map<TaskId, Set<TaskId>>();
  readonly #remoteByDestination = new Map<TaskId, Set<TaskId>>();

  /** Returns false when it was known already. */
  addLocal(task: TaskId): boolean {
    if (this.#local.has(task)) return false;
    this.#local.add(task);
    return true;
  }

  hasLocal(task: TaskId): boolean {
    return this.#local.has(task);
  }

  /** A local task sends no more to one that retires (E3). Returns false when that was known. */
  addLocalFor(source: TaskId, destination: TaskId): boolean {
    if (this.#local.has(source) || this.hasLocalFor(source, destination)) return false;
    addTo(this.#localByDestination, destination, source);
    return true;
  }

  /** Whether that was said of a local task. */
  hasLocalFor(source: TaskId, destination: TaskId): boolean {
    return this.#localByDestination.get(destination)?.has(source) === true;
  }

  addRemote(source: TaskId, destination: TaskId): void {
    addTo(this.#remoteByDestination, destination, source);
  }

  /** The task has left the plan (E4). */
  forget(task: TaskId): void {
    this.#local.delete(task);
    for (const byDestination of [this.#localByDestination, this.#remoteByDestination]) {
      byDestination.delete(task);
      for (const sources of byDestination.values()) sources.delete(task);
    }
  }

  /**
   * Ended tasks whose markers a destination is owed: local ones in the order in which they ended,
   * and remote ones that told us so.
   */
  upstreamOf(destination: TaskId, plan: PlanIndex): readonly TaskId[] {
    const component = plan.componentOf(destination);
    const upstream = new Set(component && plan.upstreamTasks(component.name));
    const ended = this.localTasks().filter((task) => upstream.has(task));
    const towards = this.#localByDestination.get(destination) ?? [];
    return [...new Set([...ended, ...towards]), ...this.remoteTasksFor(destination)];
  }

  /** Whether tuples of any of the tasks that `passesHere` may still come for a destination. */
  awaitsTuplesFor(
    destination: TaskId,
    plan: PlanIndex,
    passesHere: (source: TaskId) => boolean,
  ): boolean {
    const component = plan.componentOf(destination);
    if (component === undefined) return false;
    const ended = new Set(this.upstreamOf(destination, plan));
    const sources = plan.upstreamTasks(component.name);
    return sources.some((source) => passesHere(source) && !ended.has(source));
  }

  /** In the order in which they ended. */
  localTasks(): readonly TaskId[] {
    return [...this.#local];
  }

  /** Remote tasks whose marker for this destination has arrived. */
  remoteTasksFor(destination: TaskId): readonly TaskId[] {
    return [...(this.#remoteByDestination.get(destination) ?? [])];
  }
}

function addTo(tasks: Map<TaskId, Set<TaskId>>, key: TaskId, task: TaskId): void {
  const known = tasks.get(key);
  if (known === undefined) tasks.set(key, new Set([task]));
  else known.add(task);
}

import type { TaskId } from '../base/ids.ts';
import type { PlanIndex } from '../model/plan-index.ts';

/*
  Which tasks have sent their last tuple, as state. A marker that was lost with a connection is sent
  again from here; receivers keep a set, so a repeated one is harmless.

  E1. The end of a local task is known for all its destinations at once: its marker stands behind
      its data in each of their queues.
  E2. The end of a remote task is known for each destination by itself: its marker may have come for
      one of our tasks while its data for another one is still under way.
  E3. Nothing is ever forgotten; a task that has ended has ended for as long as the topology runs.
*/

export class EndMarkers {
  readonly #local = new Set<TaskId>();
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

  addRemote(source: TaskId, destination: TaskId): void {
    const sources = this.#remoteByDestination.get(destination) ?? new Set();
    sources.add(source);
    this.#remoteByDestination.set(destination, sources);
  }

  /**
   * Ended tasks whose markers a destination is owed: local ones in the order in which they ended,
   * and remote ones that told us so.
   */
  upstreamOf(destination: TaskId, plan: PlanIndex): readonly TaskId[] {
    const component = plan.componentOf(destination);
    const upstream = new Set(component && plan.upstreamTasks(component.name));
    const local = this.localTasks().filter((task) => upstream.has(task));
    return [...local, ...this.remoteTasksFor(destination)];
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

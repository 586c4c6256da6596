import type { Epoch, TaskId } from '../base/ids.ts';
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
  E5. A local task has ended by a plan: the one in force when it said so, or when a plan ended it
      towards one that retires. Its marker says which, and counts elsewhere when that plan, or a
      later one, is in force there. So a task that has all its markers knows of all tasks that were
      there before the last of them was sent, and waits for those too.
*/

/** The end of a remote task towards one of ours. */
export interface RemoteEnd {
  readonly source: TaskId;
  readonly destination: TaskId;
  /** The plan that it has ended by; 0 when it does not say. */
  readonly planEpoch: number;
}

export class EndMarkers {
  /** By which plan each has ended (E5). */
  readonly #local = new Map<TaskId, Epoch>();
  readonly #localByDestination = new Map<TaskId, Map<TaskId, Epoch>>();
  readonly #remoteByDestination = new Map<TaskId, Set<TaskId>>();
  #early: readonly RemoteEnd[] = [];

  /** Returns false when it was known already. */
  addLocal(task: TaskId, planEpoch: Epoch): boolean {
    if (this.#local.has(task)) return false;
    this.#local.set(task, planEpoch);
    return true;
  }

  hasLocal(task: TaskId): boolean {
    return this.#local.has(task);
  }

  /** A local task sends no more to one that retires (E3). Returns false when that was known. */
  addLocalFor(source: TaskId, destination: TaskId, planEpoch: Epoch): boolean {
    if (this.#local.has(source) || this.hasLocalFor(source, destination)) return false;
    const known = this.#localByDestination.get(destination) ?? new Map<TaskId, Epoch>();
    this.#localByDestination.set(destination, known.set(source, planEpoch));
    return true;
  }

  /** Whether that was said of a local task. */
  hasLocalFor(source: TaskId, destination: TaskId): boolean {
    return this.#localByDestination.get(destination)?.has(source) === true;
  }

  /** By which plan a local task has ended towards a destination; undefined for any other one. */
  planEpochOf(source: TaskId, destination: TaskId): Epoch | undefined {
    return this.#localByDestination.get(destination)?.get(source) ?? this.#local.get(source);
  }

  addRemote(source: TaskId, destination: TaskId): void {
    const known = this.#remoteByDestination.get(destination);
    if (known === undefined) this.#remoteByDestination.set(destination, new Set([source]));
    else known.add(source);
  }

  /** It counts from a later plan on (E5). */
  addEarly(end: RemoteEnd): void {
    this.#early = [...this.#early, end];
  }

  /** Those that count now that this plan is in force; none of them is early any more. */
  takeEarly({ plan }: PlanIndex): readonly RemoteEnd[] {
    const ends = this.#early;
    this.#early = ends.filter(({ planEpoch }) => planEpoch > plan.epoch);
    return ends.filter(({ planEpoch }) => planEpoch <= plan.epoch);
  }

  /** The task has left the plan (E4). */
  forget(task: TaskId): void {
    this.#local.delete(task);
    this.#early = this.#early.filter(
      ({ source, destination }) => source !== task && destination !== task,
    );
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
    const towards = this.#localByDestination.get(destination)?.keys() ?? [];
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
    return [...this.#local.keys()];
  }

  /** Remote tasks whose marker for this destination has arrived. */
  remoteTasksFor(destination: TaskId): readonly TaskId[] {
    return [...(this.#remoteByDestination.get(destination) ?? [])];
  }
}

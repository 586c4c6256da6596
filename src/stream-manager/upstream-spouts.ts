import type { ComponentName, StreamManagerId, TaskId } from '../base/ids.ts';
import type { PlanIndex } from '../model/plan-index.ts';

/** Which spouts stop when a component is behind: those whose tuples reach it, or all. */
export type PressureScope = 'upstream' | 'all';

const NONE: ReadonlySet<TaskId> = new Set();

/**
 * The spout tasks of one container whose tuples reach a component, over however many bolts. Answers
 * are kept: they are the same for as long as the plan has the same components.
 */
export class UpstreamSpouts {
  /** All spout tasks of the container. */
  readonly all: ReadonlySet<TaskId>;
  readonly #plan: PlanIndex;
  readonly #scope: PressureScope;
  readonly #tasks = new Map<ComponentName, ReadonlySet<TaskId>>();

  constructor(plan: PlanIndex, streamManager: StreamManagerId, scope: PressureScope) {
    this.#plan = plan;
    this.#scope = scope;
    const local = plan.instancesOf(streamManager).map(({ task }) => task);
    this.all = new Set(local.filter((task) => plan.componentOf(task)?.kind === 'spout'));
  }

  /**
   * Without a component, or with one that the plan does not know, it is all spouts: to hold one too
   * many costs time, one too few could cost memory.
   */
  of(component: ComponentName | undefined): ReadonlySet<TaskId> {
    if (this.all.size === 0) return NONE;
    if (component === undefined || this.#scope === 'all') return this.all;
    if (this.#plan.component(component) === undefined) return this.all;
    const known = this.#tasks.get(component);
    if (known !== undefined) return known;
    const sources = this.#plan.allUpstream(component);
    const tasks = [...this.all].filter((task) => {
      const spout = this.#plan.componentOf(task);
      return spout !== undefined && sources.has(spout.name);
    });
    const found = new Set(tasks);
    this.#tasks.set(component, found);
    return found;
  }
}

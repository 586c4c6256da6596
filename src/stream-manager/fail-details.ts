import type { TaskId } from '../base/ids.ts';
import type { FailKind } from '../model/fail-reason.ts';
import type { PlanIndex } from '../model/plan-index.ts';
import { encodeFailDetail } from '../wire/fail-detail.ts';

/** The bytes of the reasons that a stream manager gives itself; a few for each task at most. */
export class FailDetails {
  #plan: PlanIndex;
  readonly #bytes = new Map<string, Uint8Array>();

  constructor(plan: PlanIndex) {
    this.#plan = plan;
  }

  /** A newer plan is in force, which may know tasks that were unknown. What was given stays. */
  update(plan: PlanIndex): void {
    this.#plan = plan;
    this.#bytes.clear();
  }

  /** `task` is where it failed, or what was lost. */
  of(kind: FailKind, task?: TaskId): Uint8Array {
    const key = `${kind} ${task}`;
    const known = this.#bytes.get(key);
    if (known !== undefined) return known;
    const component = task === undefined ? undefined : this.#plan.instanceOf(task)?.component;
    const made = encodeFailDetail({ kind, component, task, error: undefined });
    this.#bytes.set(key, made);
    return made;
  }
}

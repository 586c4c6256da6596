import { assertDefined } from '../base/assert.ts';
import type { ComponentName, StreamManagerId, TaskId } from '../base/ids.ts';
import type { PlanIndex } from '../model/plan-index.ts';
import type { PlanChange } from './plan-change.ts';

/**
 * Which stream managers the tuples of local spouts get to: with a link to one of them, news of
 * those spouts' trees may be lost (K4 of ack-path.ts).
 *
 * R1. A stream manager that has left the plan is reached by none: its tasks had retired, so nothing
 *     of any tree was there any more.
 * R2. One that is new in a plan has not been linked with us, so no tree knows of anything there:
 *     its first link costs none. It is new no more once it is another process than the plan has
 *     named, which may have had tuples by way of others.
 */
export class SpoutReach {
  #managers: ReadonlyMap<TaskId, ReadonlySet<StreamManagerId>> = new Map();
  readonly #new = new Set<StreamManagerId>();

  /** A plan is in force that has these local spouts. */
  update(plan: PlanIndex, spouts: Iterable<TaskId>, change: PlanChange): void {
    for (const id of change.addedPeers) this.#new.add(id);
    for (const id of [...change.gonePeers, ...change.replacedPeers]) this.#new.delete(id);
    const reached = new Map<ComponentName, ReadonlySet<StreamManagerId>>();
    const managers = new Map<TaskId, ReadonlySet<StreamManagerId>>();
    for (const task of spouts) {
      const { name } = assertDefined(plan.componentOf(task), 'it is in the plan');
      const known = reached.get(name) ?? managersReachedBy(plan, name);
      reached.set(name, known);
      managers.set(task, known);
    }
    this.#managers = managers;
  }

  /** The spouts whose trees may have gaps, now that a link with a stream manager has come up. */
  linkUp(peer: StreamManagerId): readonly TaskId[] {
    return this.#new.delete(peer) ? [] : this.#spoutsThatReach(peer);
  }

  /** The same, now that a link has broken. */
  linkDown(peer: StreamManagerId): readonly TaskId[] {
    this.#new.delete(peer);
    return this.#spoutsThatReach(peer);
  }

  #spoutsThatReach(peer: StreamManagerId): readonly TaskId[] {
    return [...this.#managers].flatMap(([task, managers]) => (managers.has(peer) ? [task] : []));
  }
}

/** The stream managers of all bolts that a spout's tuples, or what is made of them, get to. */
function managersReachedBy(plan: PlanIndex, spout: ComponentName): ReadonlySet<StreamManagerId> {
  const reached = plan.allDownstream(spout);
  const instances = plan.plan.instances.filter((instance) => reached.has(instance.component));
  return new Set(instances.map(({ streamManager }) => streamManager));
}

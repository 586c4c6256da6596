import type { PackingPlan } from './packing-plan.ts';
import type { PhysicalPlan } from './physical-plan.ts';

/*
  An update reads the packing plan and the physical plan, and then replaces the former; the topology
  master makes the latter from the former. So that neither misses what the other does, the master
  marks a packing plan before it puts it in force: whoever has read it before cannot replace it any
  more, and whoever reads the mark waits until the physical plan has everything of it, or until the
  master takes the mark back since something has come in between.
*/

/** Whether the topology master puts this plan in force, or has done so. */
export function isAdopted({ epoch, adoptedEpoch }: PackingPlan): boolean {
  return epoch !== undefined && epoch === adoptedEpoch;
}

/** The same plan, with the mark; a plan without an epoch cannot have one. */
export function adopted(plan: PackingPlan): PackingPlan {
  const { epoch } = plan;
  return epoch === undefined ? plan : { ...plan, adoptedEpoch: epoch };
}

/** The same plan, without the mark. */
export function unadopted(plan: PackingPlan): PackingPlan {
  if (!isAdopted(plan)) return plan;
  const { adoptedEpoch: _, ...unmarked } = plan;
  return unmarked;
}

/** Whether a physical plan with everything of this plan, and its marks, is on its way. */
export function isComingIntoForce(
  plan: PackingPlan,
  { instances }: Pick<PhysicalPlan, 'instances'>,
): boolean {
  if (!isAdopted(plan)) return false;
  const inForce = new Map(instances.map((instance) => [instance.task, instance]));
  return plan.containers.some((container) =>
    container.instances.some(({ isRetiring, task }) => {
      const known = inForce.get(task);
      // What retires may have left it by now, and does not stay in it unmarked.
      return isRetiring === true
        ? known !== undefined && known.isRetiring !== true
        : known === undefined;
    }),
  );
}

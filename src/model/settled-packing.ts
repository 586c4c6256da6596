import { streamManagerIdOf } from '../base/ids.ts';
import {
  type ContainerPlan,
  type InstancePlan,
  isWithin,
  type PackingPlan,
  type Resource,
} from './packing-plan.ts';
import type { PhysicalPlan } from './physical-plan.ts';

/*
  Parts of a packing plan in the middle of an update. Such a plan holds what will be, and beside it,
  marked as retiring, what goes (packing/update-plan.ts). A container asks for what is in it and its
  padding, so it asks for less by what is left out. A plan of which nothing is left out or changed
  is returned as it is.
*/

/** The plan once the retiring tasks have gone. */
export function settledPacking(plan: PackingPlan): PackingPlan {
  return withInstances(plan, (instance) => (instance.isRetiring === true ? undefined : instance));
}

/** The part of a plan that is in force by a physical plan and stays so; nothing is marked. */
export function packingInForce(plan: PackingPlan, physicalPlan: PhysicalPlan): PackingPlan {
  const instances = physicalPlan.instances.filter(({ isRetiring }) => isRetiring !== true);
  return packingThatRuns(plan, { instances });
}

/** The part of a plan that is in force, with what retires by it; nothing is marked in it. */
export function packingThatRuns(
  plan: PackingPlan,
  { instances }: Pick<PhysicalPlan, 'instances'>,
): PackingPlan {
  const byTask = new Map(instances.map((instance) => [instance.task, instance]));
  return withInstances(plan, (instance, container) => {
    const { isRetiring, ...unmarked } = instance;
    const found = byTask.get(instance.task);
    // A number in another container, or of another component, is another task.
    if (found?.component !== instance.component) return undefined;
    if (found.streamManager !== streamManagerIdOf(container.id)) return undefined;
    const { componentIndex } = found;
    const isSame = componentIndex === instance.componentIndex && isRetiring === undefined;
    return isSame ? instance : { ...unmarked, componentIndex };
  });
}

/** Sums of fractions of a core differ in their last bits, which must not pass a limit. */
const CORE_DIGITS = 9;

function withInstances(
  plan: PackingPlan,
  wanted: (instance: InstancePlan, container: ContainerPlan) => InstancePlan | undefined,
): PackingPlan {
  let isSame = true;
  const containers = plan.containers.flatMap((container): readonly ContainerPlan[] => {
    const gone: InstancePlan[] = [];
    const instances = container.instances.flatMap((instance) => {
      const kept = wanted(instance, container);
      if (kept === undefined) gone.push(instance);
      isSame &&= kept === instance;
      return kept ?? [];
    });
    if (instances.length === 0) return [];
    if (gone.length === 0) return [{ ...container, instances }];
    return [{ id: container.id, instances, required: withoutShares(container, gone, instances) }];
  });
  return isSame ? plan : { ...plan, containers };
}

function withoutShares(
  { required }: ContainerPlan,
  gone: readonly InstancePlan[],
  left: readonly InstancePlan[],
): Resource {
  const amount = (key: keyof Resource): number => {
    const rest = required[key] - sumOf(gone, key);
    const used = sumOf(left, key);
    return isWithin(rest, used) ? rest : used;
  };
  return {
    cpuCores: Number(amount('cpuCores').toFixed(CORE_DIGITS)),
    ramBytes: amount('ramBytes'),
    diskBytes: amount('diskBytes'),
  };
}

function sumOf(instances: readonly InstancePlan[], key: keyof Resource): number {
  return instances.reduce((sum, { resource }) => sum + resource[key], 0);
}

import {
  componentName,
  containerId,
  containerOfStreamManager,
  epoch,
  instanceIdOf,
  streamManagerIdOf,
  taskId,
} from '../../src/base/ids.ts';
import type { PackingPlan } from '../../src/model/packing-plan.ts';
import type { InstanceAddress, PhysicalPlan } from '../../src/model/physical-plan.ts';
import { anAddress } from './placements.ts';

export interface PlanUpdate {
  /** New tasks get the next ids. */
  readonly add?: readonly (readonly [component: string, container: number])[];
  /** Tasks that retire from now on. */
  readonly retire?: readonly number[];
  /** Tasks that have gone. */
  readonly remove?: readonly number[];
}

/** The plan that follows: containers come with their first task and go with their last one. */
export function updated(
  plan: PhysicalPlan,
  { add = [], retire = [], remove = [] }: PlanUpdate,
): PhysicalPlan {
  const last = Math.max(...plan.instances.map(({ task }) => task));
  const kept = plan.instances
    .filter(({ task }) => !remove.includes(task))
    .map((instance) =>
      retire.includes(instance.task) ? { ...instance, isRetiring: true } : instance,
    );
  const added = add.map(([component, container], index): InstanceAddress => {
    const name = componentName(component);
    const task = taskId(last + 1 + index);
    const place = containerId(container);
    return {
      id: instanceIdOf(place, name, task),
      streamManager: streamManagerIdOf(place),
      task,
      componentIndex: index,
      component: name,
    };
  });
  const instances = [...kept, ...added];
  const managers = [...new Set(instances.map(({ streamManager }) => streamManager))].toSorted();
  return {
    ...plan,
    epoch: epoch(plan.epoch + 1),
    instances,
    streamManagers: managers.map(
      (id) =>
        plan.streamManagers.find((known) => known.id === id) ??
        anAddress(containerOfStreamManager(id) ?? 0),
    ),
  };
}

/** The packing plan that a physical one is made from. */
export function packingOf(plan: PhysicalPlan): PackingPlan {
  const resource = { cpuCores: 1, ramBytes: 1, diskBytes: 1 };
  return {
    id: plan.topology.id,
    epoch: plan.epoch,
    containers: plan.streamManagers.map(({ id }) => ({
      id: containerOfStreamManager(id) ?? containerId(0),
      required: resource,
      instances: plan.instances
        .filter(({ streamManager }) => streamManager === id)
        .map(({ component, task, componentIndex, isRetiring }) => ({
          component,
          task,
          componentIndex,
          resource,
          ...(isRetiring === true && { isRetiring }),
        })),
    })),
  };
}

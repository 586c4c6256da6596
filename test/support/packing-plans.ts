import { componentName, containerId, taskId } from '../../src/base/ids.ts';
import type { ContainerPlan, PackingPlan, Resource } from '../../src/model/packing-plan.ts';

const GIBIBYTE = 1024 ** 3;

const resource: Resource = { cpuCores: 1, ramBytes: GIBIBYTE, diskBytes: GIBIBYTE };

/** A packing plan from `{ 1: ['split:3', 'count:4'] }`: component and task by container. */
export function packingPlanOf(
  containers: Readonly<Record<number, readonly string[]>>,
): PackingPlan {
  const indexes = new Map<string, number>();
  const plans = Object.entries(containers).map(
    ([id, instances]): ContainerPlan => ({
      id: containerId(Number(id)),
      instances: instances.map((text) => {
        const [component = '', task = ''] = text.split(':');
        const componentIndex = indexes.get(component) ?? 0;
        indexes.set(component, componentIndex + 1);
        return {
          component: componentName(component),
          task: taskId(Number(task)),
          componentIndex,
          resource,
        };
      }),
      required: resource,
    }),
  );
  return { id: 'plan', containers: plans };
}

import {
  componentName,
  containerId,
  epoch,
  instanceIdOf,
  streamManagerIdOf,
  taskId,
} from '../../src/base/ids.ts';
import type { LogicalTopology } from '../../src/model/logical-topology.ts';
import type { PhysicalPlan } from '../../src/model/physical-plan.ts';
import { anAddress } from './placements.ts';

/**
 * A plan by a list of tasks, numbered from 1: `aPlanOf(topology, ['word', 1], ['count', 2])` places
 * task 1 of `word` in container 1 and task 2, of `count`, in container 2.
 */
export function aPlanOf(
  topology: LogicalTopology,
  ...tasks: readonly (readonly [component: string, container: number])[]
): PhysicalPlan {
  const containers = [...new Set(tasks.map(([, container]) => container))].toSorted(
    (a, b) => a - b,
  );
  return {
    epoch: epoch(1),
    topology,
    streamManagers: containers.map((container) => anAddress(container)),
    instances: tasks.map(([name, container], index) => {
      const component = componentName(name);
      const task = taskId(index + 1);
      const earlier = tasks.slice(0, index).filter(([other]) => other === name);
      return {
        id: instanceIdOf(containerId(container), component, task),
        streamManager: streamManagerIdOf(containerId(container)),
        task,
        componentIndex: earlier.length,
        component,
      };
    }),
  };
}

import type { BuiltTopology } from '../api/topology.ts';
import {
  containerId,
  epoch,
  instanceIdOf,
  streamManagerIdOf,
  taskId,
  topologyId,
} from '../base/ids.ts';
import type { TopologyState } from '../model/logical-topology.ts';
import type { PhysicalPlan } from '../model/physical-plan.ts';

const HOST = '127.0.0.1';
const CONTAINER = containerId(1);

/** A plan that has all tasks of a topology in one container, numbered from 1. */
export function lonePlan(
  { topology }: BuiltTopology,
  version: number,
  state: TopologyState,
): PhysicalPlan {
  const streamManager = streamManagerIdOf(CONTAINER);
  const tasks = topology.components.flatMap(({ name, parallelism }) =>
    Array.from({ length: parallelism }, (_, componentIndex) => ({ name, componentIndex })),
  );
  return {
    epoch: epoch(version),
    topology: { ...topology, id: topologyId(`${topology.name}-in-test`), state },
    streamManagers: [
      {
        id: streamManager,
        host: HOST,
        dataPort: 1,
        localDataPort: 1,
        workingDirectory: '.',
        pid: 1,
        shellPort: 1,
      },
    ],
    instances: tasks.map(({ name, componentIndex }, index) => {
      const task = taskId(index + 1);
      const id = instanceIdOf(CONTAINER, name, task);
      return { id, streamManager, task, componentIndex, component: name };
    }),
  };
}

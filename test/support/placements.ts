import {
  componentName,
  containerId,
  instanceIdOf,
  streamManagerIdOf,
  taskId,
} from '../../src/base/ids.ts';
import type { PackingPlan, Resource } from '../../src/model/packing-plan.ts';
import type { InstanceAddress, StreamManagerAddress } from '../../src/model/physical-plan.ts';

/*
  Packing plans and what stream managers say of them. Tasks are numbered from 1, container by
  container: `aPackingPlan([2, 1])` places tasks 1 and 2 in container 1 and task 3 in container 2.
*/

const RESOURCE = { cpuCores: 1, ramBytes: 1 << 30, diskBytes: 1 << 30 };
const COMPONENT = componentName('word');

function times(tasks: number): Resource {
  const { cpuCores, ramBytes, diskBytes } = RESOURCE;
  return { cpuCores: tasks * cpuCores, ramBytes: tasks * ramBytes, diskBytes: tasks * diskBytes };
}

export function aPackingPlan(tasksByContainer: readonly number[]): PackingPlan {
  let task = 0;
  return {
    id: 'plan',
    containers: tasksByContainer.map((tasks, index) => ({
      id: containerId(index + 1),
      required: times(tasks),
      instances: Array.from({ length: tasks }, () => {
        task += 1;
        return {
          component: COMPONENT,
          task: taskId(task),
          componentIndex: task - 1,
          resource: RESOURCE,
        };
      }),
    })),
  };
}

/** The address of the stream manager of one container. */
export function anAddress(
  container: number,
  fields: Partial<StreamManagerAddress> = {},
): StreamManagerAddress {
  return {
    id: streamManagerIdOf(containerId(container)),
    host: '127.0.0.1',
    dataPort: 7000 + container,
    localDataPort: 8000 + container,
    workingDirectory: `/containers/${container}`,
    pid: 1000 + container,
    shellPort: 0,
    ...fields,
  };
}

/** The instance of one task of `aPackingPlan`. */
export function anInstance(container: number, task: number): InstanceAddress {
  const place = containerId(container);
  return {
    id: instanceIdOf(place, COMPONENT, taskId(task)),
    streamManager: streamManagerIdOf(place),
    task: taskId(task),
    componentIndex: task - 1,
    component: COMPONENT,
  };
}

/**
 * A packing plan with these tasks in its containers; `3-` is task 3, which is retiring. Those that
 * stay are counted in the order of their numbers.
 */
export function aPlacement(tasks: Readonly<Record<number, readonly string[]>>): PackingPlan {
  const numberOf = (text: string): number => Number.parseInt(text, 10);
  const staying = Object.values(tasks)
    .flat()
    .filter((text) => !text.endsWith('-'))
    .map(numberOf)
    .toSorted((left, right) => left - right);
  const containers = Object.entries(tasks).map(([id, texts]) => ({
    id: containerId(Number(id)),
    required: times(texts.length),
    instances: texts.map((text) => ({
      component: COMPONENT,
      task: taskId(numberOf(text)),
      componentIndex: text.endsWith('-') ? numberOf(text) - 1 : staying.indexOf(numberOf(text)),
      resource: RESOURCE,
      ...(text.endsWith('-') && { isRetiring: true }),
    })),
  }));
  return { id: 'plan', containers };
}

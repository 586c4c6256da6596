import type { ComponentName, ContainerId, TaskId } from '../base/ids.ts';
import type { ContainerPlan, InstancePlan, PackingPlan, Resource } from './packing-plan.ts';

/** A task and its container. */
export interface TaskPlace {
  readonly component: ComponentName;
  readonly task: TaskId;
  readonly container: ContainerId;
}

/** What one plan has that another has not; each list in ascending order of ids. */
export interface PackingPlanChanges {
  readonly containersAdded: readonly ContainerId[];
  readonly containersRemoved: readonly ContainerId[];
  /** Containers of both plans that ask for more or less than before. */
  readonly containersResized: readonly {
    readonly container: ContainerId;
    readonly before: Resource;
    readonly after: Resource;
  }[];
  readonly tasksAdded: readonly TaskPlace[];
  readonly tasksRemoved: readonly TaskPlace[];
  readonly tasksMoved: readonly {
    readonly component: ComponentName;
    readonly task: TaskId;
    readonly from: ContainerId;
    readonly to: ContainerId;
  }[];
  /** Tasks that stay where they are, with another index or another share of the container. */
  readonly tasksChanged: readonly {
    readonly container: ContainerId;
    readonly before: InstancePlan;
    readonly after: InstancePlan;
  }[];
}

/** What becomes of a topology's containers and tasks when `after` takes the place of `before`. */
export function comparePackingPlans(before: PackingPlan, after: PackingPlan): PackingPlanChanges {
  const oldContainers = containersById(before);
  const newContainers = containersById(after);
  const oldTasks = tasksById(before);
  const newTasks = tasksById(after);
  const tasksInBoth = [...newTasks].flatMap(([task, now]) => {
    const was = oldTasks.get(task);
    return was !== undefined && isSameTask(was, now) ? [{ task, was, now }] : [];
  });
  const missingFrom =
    (others: ReadonlyMap<TaskId, PlacedInstance>) =>
    ([task, placed]: readonly [TaskId, PlacedInstance]): readonly TaskPlace[] => {
      const other = others.get(task);
      if (other !== undefined && isSameTask(other, placed)) return [];
      return [{ component: placed.instance.component, task, container: placed.container }];
    };
  return {
    containersAdded: [...newContainers.keys()].filter((id) => !oldContainers.has(id)),
    containersRemoved: [...oldContainers.keys()].filter((id) => !newContainers.has(id)),
    containersResized: [...newContainers].flatMap(([container, { required }]) => {
      const was = oldContainers.get(container)?.required;
      if (was === undefined || isSameResource(was, required)) return [];
      return [{ container, before: was, after: required }];
    }),
    tasksAdded: [...newTasks].flatMap(missingFrom(oldTasks)),
    tasksRemoved: [...oldTasks].flatMap(missingFrom(newTasks)),
    tasksMoved: tasksInBoth
      .filter(({ was, now }) => was.container !== now.container)
      .map(({ task, was, now }) => ({
        component: now.instance.component,
        task,
        from: was.container,
        to: now.container,
      })),
    tasksChanged: tasksInBoth
      .filter(({ was, now }) => was.container === now.container && isChanged(was, now))
      .map(({ was, now }) => ({
        container: now.container,
        before: was.instance,
        after: now.instance,
      })),
  };
}

interface PlacedInstance {
  readonly container: ContainerId;
  readonly instance: InstancePlan;
}

function containersById({ containers }: PackingPlan): ReadonlyMap<ContainerId, ContainerPlan> {
  return new Map(
    containers.toSorted((left, right) => left.id - right.id).map((one) => [one.id, one]),
  );
}

function tasksById({ containers }: PackingPlan): ReadonlyMap<TaskId, PlacedInstance> {
  const placed = containers.flatMap(({ id, instances }) =>
    instances.map((instance): PlacedInstance => ({ container: id, instance })),
  );
  const inOrder = placed.toSorted((left, right) => left.instance.task - right.instance.task);
  return new Map(inOrder.map((one) => [one.instance.task, one]));
}

/** A number that another component has taken over is another task. */
function isSameTask(left: PlacedInstance, right: PlacedInstance): boolean {
  return left.instance.component === right.instance.component;
}

function isChanged({ instance: before }: PlacedInstance, { instance }: PlacedInstance): boolean {
  return (
    before.componentIndex !== instance.componentIndex ||
    !isSameResource(before.resource, instance.resource)
  );
}

/** Whether two amounts are the same, part by part. */
export function isSameResource(left: Resource, right: Resource): boolean {
  return (
    left.cpuCores === right.cpuCores &&
    left.ramBytes === right.ramBytes &&
    left.diskBytes === right.diskBytes
  );
}

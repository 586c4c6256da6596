import { assertDefined } from '../base/assert.ts';
import type { ComponentName, ContainerId, TaskId } from '../base/ids.ts';
import { isSameResource } from '../model/compare-packing-plans.ts';
import type { ContainerPlan, PackingPlan, Resource } from '../model/packing-plan.ts';
import type { Packed } from './packing.ts';

/** A task that has its container, but not yet what it gets there. */
export interface PlacedTask {
  readonly component: ComponentName;
  readonly task: TaskId;
}

/** May be empty while a plan is in the making. */
export interface PlacedContainer {
  readonly id: ContainerId;
  readonly tasks: readonly PlacedTask[];
}

export interface ContainerSize {
  /** In the order of the tasks. */
  readonly tasks: readonly Resource[];
  readonly container: Resource;
  readonly warnings: readonly string[];
}

/**
 * How large a container with a task of each of these components is.
 *
 * @throws EngineError INVALID_CONFIG when it would be above a limit.
 */
export type SizeContainer = (where: string, tasks: readonly ComponentName[]) => ContainerSize;

/** What the assembled plan is called, and the plan that it follows, if any. */
export interface PlanOrigin {
  readonly id: string;
  readonly before?: PackingPlan;
}

/**
 * The plan of tasks that all have their places: containers and their tasks by id, indexes counted
 * (P4), resources worked out, empty containers left out.
 */
export function assemblePlan(
  origin: PlanOrigin,
  placed: readonly PlacedContainer[],
  size: SizeContainer,
): Packed {
  const warnings: string[] = [];
  const indexes = componentIndexes(placed.flatMap(({ tasks }) => tasks));
  const containersBefore = new Map(origin.before?.containers.map((one) => [one.id, one]));
  const inUse = placed.filter(({ tasks }) => tasks.length > 0);
  const containers = byId(inUse, ({ id }) => id).map(({ id, tasks }): ContainerPlan => {
    const inOrder = byId(tasks, ({ task }) => task);
    const sizes = size(
      `container ${id}`,
      inOrder.map(({ component }) => component),
    );
    warnings.push(...sizes.warnings);
    const instances = inOrder.map(({ component, task }, position) => ({
      component,
      task,
      componentIndex: assertDefined(indexes.get(task), 'each task has been counted'),
      resource: assertDefined(sizes.tasks[position], 'there is a size for each task'),
    }));
    return {
      id,
      instances,
      required: sizes.container,
      ...scheduledBefore(containersBefore.get(id), sizes),
    };
  });
  const lastTask = origin.before?.lastTask;
  return {
    plan: { id: origin.id, containers, ...(lastTask !== undefined && { lastTask }) },
    warnings,
  };
}

/** The places of a plan. */
export function placesOf(plan: PackingPlan): readonly PlacedContainer[] {
  return plan.containers.map(({ id, instances }) => ({
    id,
    tasks: instances.map(({ component, task }) => ({ component, task })),
  }));
}

/** What the scheduler gave holds as long as the container asks for the same. */
function scheduledBefore(
  found: ContainerPlan | undefined,
  { container: wanted }: ContainerSize,
): Pick<ContainerPlan, 'scheduled'> {
  if (found?.scheduled === undefined || !isSameResource(found.required, wanted)) return {};
  return { scheduled: found.scheduled };
}

/** The position of each task among its component's tasks by id (P4). */
export function componentIndexes(tasks: readonly PlacedTask[]): ReadonlyMap<TaskId, number> {
  const indexes = new Map<TaskId, number>();
  const counts = new Map<ComponentName, number>();
  for (const { component, task } of byId(tasks, (placed) => placed.task)) {
    const index = counts.get(component) ?? 0;
    counts.set(component, index + 1);
    indexes.set(task, index);
  }
  return indexes;
}

function byId<Item>(items: readonly Item[], idOf: (item: Item) => number): readonly Item[] {
  return items.toSorted((left, right) => idOf(left) - idOf(right));
}

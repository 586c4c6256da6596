import { userError } from '../base/errors.ts';
import { type ComponentName, containerId, type TaskId, taskId } from '../base/ids.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import { didYouMean } from '../model/nearest.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import { quotable } from '../model/quotable.ts';
import { type PlacedContainer, placesOf, type PlacedTask } from './assemble-plan.ts';
import type { RepackRequest } from './packing.ts';
import { checkNumberOfTasks } from './task-defaults.ts';

/** A plan whose surplus tasks are gone, and what is still to be done to it. */
export interface StartedRepack {
  /** By id; those that have become empty are still among them. */
  readonly containers: readonly PlacedContainer[];
  /** How many tasks each component is short of, in the topology's order. */
  readonly missing: ReadonlyMap<ComponentName, number>;
  /** How many tasks there will be. */
  readonly tasks: number;
  /** Gives the next new task its id (P5). */
  readonly nextTask: () => TaskId;
  /** An empty container with the next new id (P5). */
  readonly nextContainer: () => PlacedContainer;
}

/**
 * Begins a repack: checks the request and removes the tasks that are to go. undefined when the
 * request asks for nothing that is not there already.
 *
 * @throws EngineError INVALID_ARGUMENT or INVALID_CONFIG
 */
export function startRepack(
  topology: LogicalTopology,
  plan: PackingPlan,
  { parallelism = new Map(), containers: wanted }: RepackRequest,
): StartedRepack | undefined {
  checkRequest(topology, parallelism);
  const counts = countTasks(plan);
  const missing = new Map<ComponentName, number>();
  let containers: readonly PlacedContainer[] = placesOf(plan).toSorted(
    (left, right) => left.id - right.id,
  );
  let tasks = 0;
  let isChange = wanted !== undefined && wanted !== containers.length;
  for (const { name } of topology.components) {
    const count = counts.get(name) ?? 0;
    const target = parallelism.get(name) ?? count;
    tasks += target;
    isChange ||= target !== count;
    if (target > count) missing.set(name, target - count);
    if (target < count) containers = removeTasks(containers, name, count - target);
  }
  checkNumberOfTasks(tasks);
  if (!isChange) return undefined;
  const ids = plan.containers.map(({ id }) => Number(id));
  let lastContainer = largest(ids);
  const tasksBefore = plan.containers.flatMap(({ instances }) => instances.map(idOfTask));
  let lastTask = Math.max(largest(tasksBefore), plan.lastTask ?? 0);
  return {
    containers,
    missing,
    tasks,
    nextTask: () => taskId((lastTask += 1)),
    nextContainer: () => ({ id: containerId((lastContainer += 1)), tasks: [] }),
  };
}

/**
 * For algorithms that work the number of containers out from the limits.
 *
 * @throws EngineError INVALID_ARGUMENT when the request names one.
 */
export function refuseNumberOfContainers(algorithm: string, { containers }: RepackRequest): void {
  if (containers === undefined) return;
  throw userError(
    'INVALID_ARGUMENT',
    `${algorithm} packing works out the number of containers itself, it cannot be asked for ` +
      `${containers}; change the limits of a container (topology.container.cpu, .ram and .disk), ` +
      "or use heron.packing.algorithm 'round-robin'",
  );
}

function checkRequest(
  topology: LogicalTopology,
  parallelism: ReadonlyMap<ComponentName, number>,
): void {
  const names = topology.components.map(({ name }) => name);
  for (const [name, tasks] of parallelism) {
    if (!names.includes(name)) {
      throw userError(
        'INVALID_ARGUMENT',
        `there is no component '${quotable(name)}' in topology '${topology.name}'` +
          didYouMean(name, names),
      );
    }
    if (!Number.isSafeInteger(tasks) || tasks < 1) {
      throw userError(
        'INVALID_ARGUMENT',
        `component '${name}': its parallelism must be a whole number from 1, not ${tasks}`,
      );
    }
  }
}

function countTasks(plan: PackingPlan): ReadonlyMap<ComponentName, number> {
  const counts = new Map<ComponentName, number>();
  for (const { instances } of plan.containers) {
    for (const { component } of instances) {
      counts.set(component, (counts.get(component) ?? 0) + 1);
    }
  }
  return counts;
}

/** A container as the choice of the tasks to go sees it. */
interface Candidate {
  readonly container: PlacedContainer;
  /** Tasks of the component in question, by id. */
  readonly own: readonly PlacedTask[];
  readonly others: number;
}

/**
 * Takes tasks of one component away, from the containers that Heron's scorers put first. In a
 * container the newest tasks go: the indexes of the older ones then change least.
 */
export function removeTasks(
  containers: readonly PlacedContainer[],
  component: ComponentName,
  count: number,
): readonly PlacedContainer[] {
  const candidates = containers.map((container): Candidate => {
    const own = container.tasks
      .filter((task) => task.component === component)
      .toSorted((left, right) => left.task - right.task);
    return { container, own, others: container.tasks.length - own.length };
  });
  // Heron scores again after each task. A container that has lost one scores even better, so the
  // order stays: one container after the other is emptied.
  const inOrder = candidates.toSorted(byScores).flatMap(({ own }) => own.toReversed());
  const removed = new Set(inOrder.slice(0, count).map(({ task }) => task));
  return containers.map(({ id, tasks }) => ({
    id,
    tasks: tasks.filter(({ task }) => !removed.has(task)),
  }));
}

/**
 * Heron's order: containers of this component alone, then fewer tasks, then a larger share of this
 * component, then the higher id.
 */
function byScores(left: Candidate, right: Candidate): number {
  const size = ({ own, others }: Candidate): number => own.length + others;
  return (
    Math.sign(left.others) - Math.sign(right.others) ||
    size(left) - size(right) ||
    left.others - right.others ||
    right.container.id - left.container.id
  );
}

function idOfTask({ task }: PlacedTask): number {
  return task;
}

function largest(ids: readonly number[]): number {
  return ids.reduce((most, id) => Math.max(most, id), 0);
}

import { containerId, taskId } from '../base/ids.ts';
import type { Component, LogicalTopology } from '../model/logical-topology.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import { Settings } from '../model/settings.ts';
import { assemblePlan, type PlacedContainer, type PlacedTask, placesOf } from './assemble-plan.ts';
import {
  COMPLIANT_TASK_RAM_BYTES_MIN,
  ContainerLimits,
  OpenContainer,
} from './container-limits.ts';
import type { Packed, Packing, RepackRequest } from './packing.ts';
import { refuseNumberOfContainers, startRepack } from './repack-changes.ts';
import { checkNumberOfTasks, numberOfTasks } from './task-defaults.ts';

/*
  Heron's first-fit decreasing: the largest tasks first, each in the first container that has room
  for it, or in a new one. Packs into few containers; topology.stmgrs is not looked at.
  topology.packing.ffd.sorting.strategy says what large means.
*/
export const firstFitDecreasing: Packing = { pack, repack, resize };

/** A smaller share of a core is no use to a task; Heron's number. */
const TASK_CPU_CORES_MIN = 0.1;

function limitsOf(topology: LogicalTopology): ContainerLimits {
  return new ContainerLimits(topology, {
    taskMin: { cpuCores: TASK_CPU_CORES_MIN, ramBytes: COMPLIANT_TASK_RAM_BYTES_MIN },
    isNumberOfTasksLimited: true,
  });
}

function pack(topology: LogicalTopology): Packed {
  checkNumberOfTasks(numberOfTasks(topology));
  const limits = limitsOf(topology);
  let lastTask = 0;
  let lastContainer = 0;
  const tasks = largestFirst(topology, limits).flatMap(({ name, parallelism }) =>
    Array.from({ length: parallelism }, () => ({ component: name, task: taskId((lastTask += 1)) })),
  );
  const nextContainer = (): PlacedContainer => ({
    id: containerId((lastContainer += 1)),
    tasks: [],
  });
  const containers = firstFit([], tasks, limits, nextContainer);
  return assemblePlan({ id: topology.id }, containers, limits.size.bind(limits));
}

function repack(topology: LogicalTopology, plan: PackingPlan, request: RepackRequest): Packed {
  refuseNumberOfContainers('first-fit-decreasing', request);
  const started = startRepack(topology, plan, request);
  if (started === undefined) return { plan, warnings: [] };
  const { missing, nextTask, nextContainer } = started;
  const limits = limitsOf(topology);
  const tasks = largestFirst(topology, limits).flatMap(({ name }) =>
    Array.from({ length: missing.get(name) ?? 0 }, () => ({ component: name, task: nextTask() })),
  );
  const containers = firstFit(started.containers, tasks, limits, nextContainer);
  return assemblePlan({ id: plan.id, before: plan }, containers, limits.size.bind(limits));
}

function resize(topology: LogicalTopology, plan: PackingPlan): PackingPlan {
  const limits = limitsOf(topology);
  const origin = { id: plan.id, before: plan };
  return assemblePlan(origin, placesOf(plan), limits.size.bind(limits)).plan;
}

function largestFirst(topology: LogicalTopology, limits: ContainerLimits): readonly Component[] {
  const strategy = new Settings(topology.config).get('topology.packing.ffd.sorting.strategy');
  return topology.components.toSorted((left, right) => {
    const [leftDemand, rightDemand] = [limits.demandOf(left.name), limits.demandOf(right.name)];
    const ram = rightDemand.ramBytes - leftDemand.ramBytes;
    const cpu = rightDemand.cpuCores - leftDemand.cpuCores;
    return strategy === 'RAM_FIRST' ? ram || cpu : cpu || ram;
  });
}

/** Puts the tasks, one component after the other, into containers in the order of these. */
function firstFit(
  placed: readonly PlacedContainer[],
  tasks: readonly PlacedTask[],
  limits: ContainerLimits,
  nextContainer: () => PlacedContainer,
): readonly OpenContainer[] {
  const containers = placed.map(({ id, tasks: own }) => new OpenContainer(id, limits, own));
  let component = tasks[0]?.component;
  let first = 0;
  for (const task of tasks) {
    // What had no room for one task of a component has none for the next one.
    if (task.component !== component) first = 0;
    component = task.component;
    while (containers[first]?.hasRoomFor(component) === false) first += 1;
    containers[first] ??= new OpenContainer(nextContainer().id, limits);
    containers[first]?.add(task);
  }
  return containers;
}

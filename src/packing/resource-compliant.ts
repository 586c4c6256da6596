import { assertDefined } from '../base/assert.ts';
import { containerId, taskId } from '../base/ids.ts';
import type { Component, LogicalTopology } from '../model/logical-topology.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import { Settings } from '../model/settings.ts';
import { assemblePlan, type PlacedTask, placesOf } from './assemble-plan.ts';
import {
  COMPLIANT_TASK_RAM_BYTES_MIN,
  ContainerLimits,
  OpenContainer,
} from './container-limits.ts';
import type { Packed, Packing, RepackRequest } from './packing.ts';
import { refuseNumberOfContainers, type StartedRepack, startRepack } from './repack-changes.ts';
import { checkNumberOfTasks, numberOfTasks } from './task-defaults.ts';

/*
  Heron's resource-compliant round robin: each task in the next container in turn, in the order in
  which components are declared. A container that has no room for its task means one container more
  and a new start, from topology.stmgrs upwards.

  In a repack, new tasks go round the containers too, and pass over those without room. Departs from
  Heron, which adds containers by the sum of the new tasks at once: here one is added only when the
  others have no room left.
*/
export const resourceCompliant: Packing = { pack, repack, resize };

function limitsOf(topology: LogicalTopology): ContainerLimits {
  return new ContainerLimits(topology, {
    taskMin: { cpuCores: 0, ramBytes: COMPLIANT_TASK_RAM_BYTES_MIN },
    isNumberOfTasksLimited: false,
  });
}

function pack(topology: LogicalTopology): Packed {
  const { components, id } = topology;
  const tasks = numberOfTasks(topology);
  checkNumberOfTasks(tasks);
  const limits = limitsOf(topology);
  const wanted = new Settings(topology.config).get('topology.stmgrs');
  const containers = dealStrictly(components, limits, Math.min(wanted, tasks));
  const { plan, warnings } = assemblePlan({ id }, containers, limits.size.bind(limits));
  return { plan, warnings: [...numberWarnings(wanted, tasks, containers.length), ...warnings] };
}

function numberWarnings(wanted: number, tasks: number, used: number): readonly string[] {
  if (wanted > tasks) {
    return [`topology.stmgrs: ${wanted} containers are more than the ${tasks} tasks; ${used} used`];
  }
  if (used > wanted) {
    return [
      `topology.stmgrs asks for ${wanted} containers; the limits of a container ` +
        `(topology.container.cpu, .ram and .disk) make it ${used}`,
    ];
  }
  return [];
}

/** With the fewest containers, from `least` up, with which every task has room where it is due. */
function dealStrictly(
  components: readonly Component[],
  limits: ContainerLimits,
  least: number,
): readonly OpenContainer[] {
  // With fewer than the tasks need in any order, no deal succeeds. With a container for each task
  // every one does: the limits have been checked for that.
  const isSoonSeen = components.length ** 2 < numberOfTasks({ components });
  for (let count = Math.max(least, limits.moreContainersMin(components, [])); ; count++) {
    if (isSoonSeen && !isDealable(count, components, limits)) continue;
    const containers = dealTo(count, components, limits);
    if (containers !== undefined) return containers;
  }
}

/**
 * What `dealTo` would find, without dealing each task: between the containers at which a component
 * begins or ends, all hold the same tasks, so that one of each kind tells enough.
 */
function isDealable(
  count: number,
  components: readonly Component[],
  limits: ContainerLimits,
): boolean {
  let dealt = 0;
  const spans = components.map(({ name, parallelism }) => {
    const first = dealt % count;
    dealt += parallelism;
    const { cpuCores, ramBytes, diskBytes } = limits.demandOf(name);
    return { first, parallelism, cpuCores, ramBytes, diskBytes };
  });
  return spans.every(({ first: container }) => {
    const used = { cpuCores: 0, ramBytes: 0, diskBytes: 0 };
    for (const { first, parallelism, cpuCores, ramBytes, diskBytes } of spans) {
      const turn = (container - first + count) % count;
      const tasks = Math.floor((parallelism - turn - 1) / count) + 1;
      used.cpuCores += cpuCores * tasks;
      used.ramBytes += ramBytes * tasks;
      used.diskBytes += diskBytes * tasks;
    }
    return limits.fits(used);
  });
}

function dealTo(
  count: number,
  components: readonly Component[],
  limits: ContainerLimits,
): readonly OpenContainer[] | undefined {
  const containers = Array.from(
    { length: count },
    (_, index) => new OpenContainer(containerId(index + 1), limits),
  );
  let dealt = 0;
  for (const { name, parallelism } of components) {
    for (let left = parallelism; left > 0; left--) {
      const container = assertDefined(containers[dealt % count], 'the remainder is below it');
      if (!container.hasRoomFor(name)) return undefined;
      dealt += 1;
      container.add({ component: name, task: taskId(dealt) });
    }
  }
  return containers;
}

function repack(topology: LogicalTopology, plan: PackingPlan, request: RepackRequest): Packed {
  refuseNumberOfContainers('resource-compliant-round-robin', request);
  const started = startRepack(topology, plan, request);
  if (started === undefined) return { plan, warnings: [] };
  const limits = limitsOf(topology);
  const containers = dealFlexibly(started, limits);
  return assemblePlan({ id: plan.id, before: plan }, containers, limits.size.bind(limits));
}

function resize(topology: LogicalTopology, plan: PackingPlan): PackingPlan {
  const limits = limitsOf(topology);
  const origin = { id: plan.id, before: plan };
  return assemblePlan(origin, placesOf(plan), limits.size.bind(limits)).plan;
}

/** With as few new containers as give every missing task a place. */
function dealFlexibly(
  { containers, missing, nextTask, nextContainer }: StartedRepack,
  limits: ContainerLimits,
): readonly OpenContainer[] {
  const added = [...missing].map(([name, parallelism]) => ({ name, parallelism }));
  const all = [...containers];
  const open = (): readonly OpenContainer[] =>
    all.map(({ id, tasks }) => new OpenContainer(id, limits, tasks));
  for (let more = limits.moreContainersMin(added, open()); more > 0; more--) {
    all.push(nextContainer());
  }
  const tasks = added.flatMap(({ name, parallelism }) =>
    Array.from({ length: parallelism }, () => ({ component: name, task: nextTask() })),
  );
  for (;;) {
    const filled = open();
    if (goRound(filled, tasks)) return filled;
    all.push(nextContainer());
  }
}

/** Each task in the next container that has room for it; false when none has. */
function goRound(containers: readonly OpenContainer[], tasks: readonly PlacedTask[]): boolean {
  let turn = 0;
  return tasks.every((task) => {
    for (let tried = 0; tried < containers.length; tried++) {
      const container = assertDefined(
        containers[(turn + tried) % containers.length],
        'the remainder is below the length',
      );
      if (!container.hasRoomFor(task.component)) continue;
      container.add(task);
      turn = (turn + tried + 1) % containers.length;
      return true;
    }
    return false;
  });
}

import type { ComponentName, ContainerId } from '../base/ids.ts';
import type { Component } from './logical-topology.ts';
import {
  type ContainerPlan,
  type InstancePlan,
  isWithin,
  type PackingPlan,
  RESOURCE_UNITS,
  type Resource,
} from './packing-plan.ts';
import { repeated } from './repeated.ts';

/**
 * One sentence for everything in which a packing plan breaks its own rules or does not fit its
 * topology: each task once, each component as often as its parallelism, at least one container,
 * each big enough for what is in it. Empty when all is well.
 *
 * A plan with an epoch is one of a topology that was updated: a component has the tasks that it was
 * given last, one at least, and beside them may be some that retire and keep their indexes.
 */
export function validatePackingPlan(
  plan: PackingPlan,
  components: readonly Component[],
): readonly string[] {
  const instances = plan.containers.flatMap((container) => container.instances);
  return [
    ...(plan.containers.length === 0 ? ['there is no container'] : []),
    ...repeated(plan.containers.map(({ id }) => id)).map((id) => `container ${id} is there twice`),
    ...plan.containers.flatMap(containerProblems),
    ...repeated(instances.map(({ task }) => task)).map((task) => `task ${task} is there twice`),
    ...componentProblems(
      instances.filter(({ isRetiring }) => isRetiring !== true),
      components,
      plan.epoch !== undefined,
    ),
  ];
}

function containerProblems({ id, instances, required }: ContainerPlan): readonly string[] {
  return [
    ...(isPositive(id) ? [] : [`container ${id}: ids of containers are whole numbers from 1`]),
    ...(instances.length === 0 ? [`container ${id} has no instance`] : []),
    ...instances
      .filter(({ task }) => !isPositive(task))
      .map(({ task }) => `container ${id}: task ${task} is not a whole number from 1`),
    ...instances.flatMap((instance) => negativeAmounts(id, instance)),
    ...tooSmall(id, instances, required),
  ];
}

/** One that takes away would hide what the others need. */
function negativeAmounts(id: ContainerId, { task, resource }: InstancePlan): readonly string[] {
  return RESOURCE_UNITS.filter(([key]) => !(resource[key] >= 0)).map(
    ([key, unit]) => `container ${id}: task ${task} cannot have ${resource[key]} ${unit}`,
  );
}

function tooSmall(
  id: ContainerId,
  instances: readonly InstancePlan[],
  required: Resource,
): readonly string[] {
  return RESOURCE_UNITS.flatMap(([key, unit]) => {
    const used = instances.reduce((sum, { resource }) => sum + resource[key], 0);
    return isWithin(required[key], used)
      ? []
      : [`container ${id}: its instances need ${used} ${unit}, it has ${required[key]}`];
  });
}

function componentProblems(
  instances: readonly InstancePlan[],
  components: readonly Component[],
  isUpdated: boolean,
): readonly string[] {
  const indexes = new Map<ComponentName, number[]>();
  for (const { component, componentIndex } of instances) {
    const found = indexes.get(component);
    if (found === undefined) indexes.set(component, [componentIndex]);
    else found.push(componentIndex);
  }
  const known = new Set(components.map(({ name }) => name));
  return [
    ...[...indexes.keys()]
      .filter((name) => !known.has(name))
      .map((name) => `component '${name}' is not in the topology`),
    ...components.flatMap(({ name, parallelism }) => {
      const found = (indexes.get(name) ?? []).toSorted((left, right) => left - right);
      if (isUpdated && found.length === 0) return [`component '${name}' has no task`];
      if (!isUpdated && found.length !== parallelism) {
        return [`component '${name}' has ${found.length} tasks, its parallelism is ${parallelism}`];
      }
      const isCounted = found.every((componentIndex, position) => componentIndex === position);
      return isCounted ? [] : [`component '${name}': its tasks are not counted from 0 on`];
    }),
  ];
}

function isPositive(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

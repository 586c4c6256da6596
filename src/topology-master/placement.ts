import {
  type StreamManagerId,
  instanceIdOf,
  streamManagerIdOf,
  containerOfStreamManager,
} from '../base/ids.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import type { InstanceAddress, StreamManagerAddress } from '../model/physical-plan.ts';

/*
  What the packing plan demands, in the words of the physical plan: which stream managers there must
  be, and which instance each of them serves.
*/

/** The part of a physical plan that registrations decide. */
export interface Addresses {
  readonly streamManagers: readonly StreamManagerAddress[];
  readonly instances: readonly InstanceAddress[];
}

interface Expected {
  readonly streamManagers: readonly StreamManagerId[];
  readonly instances: readonly InstanceAddress[];
  readonly instancesOf: ReadonlyMap<StreamManagerId, readonly InstanceAddress[]>;
}

/** A packing plan never changes, and every registration asks the same of it (docs/scale.md). */
const known = new WeakMap<PackingPlan, Expected>();

/** In the order of their containers. */
export function expectedStreamManagers(packing: PackingPlan): readonly StreamManagerId[] {
  return expectedOf(packing).streamManagers;
}

/** In the order of their tasks. */
export function expectedInstances(packing: PackingPlan): readonly InstanceAddress[] {
  return expectedOf(packing).instances;
}

/** Those of one stream manager; undefined when the packing plan has no such stream manager. */
export function expectedInstancesOf(
  packing: PackingPlan,
  id: StreamManagerId,
): readonly InstanceAddress[] | undefined {
  return expectedOf(packing).instancesOf.get(id);
}

function expectedOf(packing: PackingPlan): Expected {
  const before = known.get(packing);
  if (before !== undefined) return before;
  const containers = packing.containers.map((container) => container.id);
  const streamManagers = containers.toSorted((a, b) => a - b).map(streamManagerIdOf);
  const instances = plannedInstances(packing);
  const groups = Map.groupBy(instances, ({ streamManager }) => streamManager);
  const instancesOf = new Map(streamManagers.map((id) => [id, groups.get(id) ?? []]));
  const expected = { streamManagers, instances, instancesOf };
  known.set(packing, expected);
  return expected;
}

function plannedInstances(packing: PackingPlan): readonly InstanceAddress[] {
  const instances = packing.containers.flatMap((container) =>
    container.instances.map(({ component, task, componentIndex, isRetiring }) => ({
      id: instanceIdOf(container.id, component, task),
      streamManager: streamManagerIdOf(container.id),
      task,
      componentIndex,
      component,
      ...(isRetiring === true && { isRetiring }),
    })),
  );
  return instances.toSorted((a, b) => a.task - b.task);
}

/** True when both hold the same instances with the same indexes and marks, in whatever order. */
export function isSamePlacement(
  some: readonly InstanceAddress[],
  others: readonly InstanceAddress[],
): boolean {
  const textOf = (instance: InstanceAddress): string =>
    JSON.stringify([...processOf(instance), instance.componentIndex, instance.isRetiring === true]);
  return isSameText(some, others, textOf);
}

/**
 * True when both speak of the same processes, in whatever order. An update changes indexes and
 * marks, and a process keeps those that it was started with until it is started again.
 */
export function areSameProcesses(
  some: readonly InstanceAddress[],
  others: readonly InstanceAddress[],
): boolean {
  return isSameText(some, others, (instance) => JSON.stringify(processOf(instance)));
}

function processOf({ id, streamManager, task, component }: InstanceAddress): readonly unknown[] {
  return [id, streamManager, task, component];
}

function isSameText(
  some: readonly InstanceAddress[],
  others: readonly InstanceAddress[],
  textOf: (instance: InstanceAddress) => string,
): boolean {
  if (some.length !== others.length) return false;
  const sorted = (instances: readonly InstanceAddress[]): string =>
    instances.map(textOf).toSorted().join('\n');
  return sorted(some) === sorted(others);
}

export function isSameAddress(a: StreamManagerAddress, b: StreamManagerAddress): boolean {
  return (
    isSameProcess(a, b) &&
    a.localDataPort === b.localDataPort &&
    a.workingDirectory === b.workingDirectory &&
    a.shellPort === b.shellPort
  );
}

/** True when one process says both: nobody else has its data port while it lives. */
export function isSameProcess(a: StreamManagerAddress, b: StreamManagerAddress): boolean {
  return a.id === b.id && a.host === b.host && a.dataPort === b.dataPort && a.pid === b.pid;
}

/** For sorting: by container, so that `stmgr-10` comes after `stmgr-2`. */
export function byContainer(a: StreamManagerAddress, b: StreamManagerAddress): number {
  return (containerOfStreamManager(a.id) ?? 0) - (containerOfStreamManager(b.id) ?? 0);
}

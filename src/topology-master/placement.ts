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

/** In the order of their containers. */
export function expectedStreamManagers(packing: PackingPlan): StreamManagerId[] {
  const containers = packing.containers.map((container) => container.id);
  return containers.toSorted((a, b) => a - b).map(streamManagerIdOf);
}

/** In the order of their tasks. */
export function expectedInstances(packing: PackingPlan): InstanceAddress[] {
  const instances = packing.containers.flatMap((container) =>
    container.instances.map(({ component, task, componentIndex }) => ({
      id: instanceIdOf(container.id, component, task),
      streamManager: streamManagerIdOf(container.id),
      task,
      componentIndex,
      component,
    })),
  );
  return instances.toSorted((a, b) => a.task - b.task);
}

/** True when both hold the same instances, in whatever order. */
export function isSamePlacement(
  some: readonly InstanceAddress[],
  others: readonly InstanceAddress[],
): boolean {
  const sorted = (instances: readonly InstanceAddress[]): string =>
    instances.map(textOf).toSorted().join('\n');
  return sorted(some) === sorted(others);
}

function textOf({ id, streamManager, task, componentIndex, component }: InstanceAddress): string {
  return JSON.stringify([id, streamManager, task, componentIndex, component]);
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

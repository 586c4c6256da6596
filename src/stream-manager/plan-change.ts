import type { StreamManagerId } from '../base/ids.ts';
import type { PlanIndex } from '../model/plan-index.ts';
import type { InstanceAddress, StreamManagerAddress } from '../model/physical-plan.ts';

/** What is different in a newer plan, but for the marks of those that retire. */
export interface PlanChange {
  /** In the newer plan only, by ascending task. */
  readonly added: readonly InstanceAddress[];
  /** In the older plan only, by ascending task. */
  readonly gone: readonly InstanceAddress[];
  readonly addedPeers: readonly StreamManagerId[];
  readonly gonePeers: readonly StreamManagerId[];
  /** In both plans, and another process in the newer one. */
  readonly replacedPeers: readonly StreamManagerId[];
}

/**
 * Pure: from one plan to the next; everything is added by the first. Tasks keep their place for as
 * long as they live; one that did not would be another task, gone and added.
 */
export function planChange(before: PlanIndex | undefined, after: PlanIndex): PlanChange {
  const peersBefore = byId(before);
  const peersAfter = byId(after);
  return {
    added: missingIn(before, after.plan.instances),
    gone: missingIn(after, before?.plan.instances ?? []),
    addedPeers: [...peersAfter.keys()].filter((id) => !peersBefore.has(id)),
    gonePeers: [...peersBefore.keys()].filter((id) => !peersAfter.has(id)),
    replacedPeers: [...peersAfter.values()].flatMap((address) => {
      const known = peersBefore.get(address.id);
      return known === undefined || isSameProcess(known, address) ? [] : [address.id];
    }),
  };
}

/** By ascending task. Plans are large, and as a rule all but alike. */
function missingIn(
  index: PlanIndex | undefined,
  instances: readonly InstanceAddress[],
): readonly InstanceAddress[] {
  return instances
    .filter(({ id, task }) => index?.instanceOf(task)?.id !== id)
    .toSorted((left, right) => left.task - right.task);
}

function byId(index: PlanIndex | undefined): Map<StreamManagerId, StreamManagerAddress> {
  return new Map((index?.plan.streamManagers ?? []).map((address) => [address.id, address]));
}

function isSameProcess(one: StreamManagerAddress, other: StreamManagerAddress): boolean {
  return one.host === other.host && one.dataPort === other.dataPort && one.pid === other.pid;
}

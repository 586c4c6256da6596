import { type ComponentName, type Epoch, epoch, type StreamManagerId } from '../base/ids.ts';
import type { InstanceAddress } from '../model/physical-plan.ts';
import type { Addresses } from './placement.ts';

/*
  New tasks of spouts begin later than the plan that they come with. A bolt that reads from them may
  have heard that plan late, or never: by the plan before all of its input may have ended, and what
  they emit would have no reader. Bolts get what comes and need no such care.

  J1. A new spout task is `joining`, and its instance gets no plan, until every stream manager says
      that it works by a plan that has it. A stream manager that is away is waited for, whatever it
      takes: nobody else knows what has ended there.
  J2. Then either some task of its component has not ended, or has by a plan that had the new one
      already; the marker of that end says so, and so no reader ends without knowing of the new task
      (E5 of end-markers.ts in the stream manager). The new task begins.
  J3. Or all of them had ended before. Then the new one has come too late: it is `without input`,
      its stream manager ends it towards its readers, and it never begins.
  J4. What it is survives updates and masters: the plan says it.
*/

/** In a plan that is to be stored: the epoch that it is about to get. */
export const JOINS_NOW = epoch(0);

/** Pure: the instances of a next plan, with what they are in this one; new spout tasks join. */
export function withJoining(
  next: readonly InstanceAddress[],
  current: Addresses,
  isSpout: (component: ComponentName) => boolean,
): readonly InstanceAddress[] {
  const known = new Map(current.instances.map((instance) => [instance.id, instance]));
  return next.map((instance) => {
    const before = known.get(instance.id);
    if (before === undefined) {
      return isSpout(instance.component) ? { ...instance, joiningEpoch: JOINS_NOW } : instance;
    }
    const { joiningEpoch, isWithoutInput } = before;
    return {
      ...instance,
      ...(joiningEpoch !== undefined && { joiningEpoch }),
      ...(isWithoutInput === true && { isWithoutInput }),
    };
  });
}

/** The plan of a joining task has this epoch from now on. */
export function joined(instance: InstanceAddress, planEpoch: Epoch): InstanceAddress {
  return instance.joiningEpoch === JOINS_NOW ? { ...instance, joiningEpoch: planEpoch } : instance;
}

export function isJoining({ joiningEpoch }: InstanceAddress): boolean {
  return joiningEpoch !== undefined;
}

interface JoiningFacts {
  /** By which plan each stream manager says that it works. */
  readonly planEpochs: ReadonlyMap<StreamManagerId, Epoch>;
  /** Whether readers of a component may have ended without knowing of what came with a plan. */
  readonly hasEndedBefore: (planEpoch: Epoch, component: ComponentName) => boolean;
}

/** Pure: the instances when joining ones are not so any more; undefined as long as they are. */
export function begun(
  { streamManagers, instances, epoch: current }: Addresses & { readonly epoch: Epoch },
  { planEpochs, hasEndedBefore }: JoiningFacts,
): readonly InstanceAddress[] | undefined {
  if (!instances.some(isJoining)) return undefined;
  if (!streamManagers.every(({ id }) => (planEpochs.get(id) ?? 0) >= current)) return undefined;
  return instances.map((instance) => {
    const { joiningEpoch, ...beginning } = instance;
    if (joiningEpoch === undefined) return instance;
    return hasEndedBefore(joiningEpoch, instance.component)
      ? { ...beginning, isWithoutInput: true }
      : beginning;
  });
}

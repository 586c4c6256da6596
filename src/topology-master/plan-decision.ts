import type { StreamManagerId } from '../base/ids.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import type { InstanceAddress, StreamManagerAddress } from '../model/physical-plan.ts';
import {
  byContainer,
  expectedInstances,
  expectedStreamManagers,
  isSameAddress,
  isSamePlacement,
} from './placement.ts';
import type { Registration } from './registration-decision.ts';

/*
  When a new physical plan is needed, and what is in it.

  P1. The first plan waits until every expected stream manager has registered.
  P2. A plan that is there, from this incarnation or from one before, is kept as long as it fits the
      packing plan: no instance moves, and a stream manager that is away keeps its last address.
  P3. Only a changed address makes another plan. Registering again as before changes nothing.
*/

/** The part of a physical plan that registrations decide. */
export interface Addresses {
  readonly streamManagers: readonly StreamManagerAddress[];
  readonly instances: readonly InstanceAddress[];
}

export interface PlanFacts {
  readonly packing: PackingPlan;
  readonly registered: ReadonlyMap<StreamManagerId, Registration>;
  /** The newest stored plan. */
  readonly current: Addresses | undefined;
}

export type PlanDecision =
  | { readonly kind: 'wait'; readonly missing: readonly StreamManagerId[] }
  | { readonly kind: 'keep' }
  | { readonly kind: 'store'; readonly addresses: Addresses };

/** Pure: what the registrations at hand mean for the physical plan. */
export function decidePlan({ packing, registered, current }: PlanFacts): PlanDecision {
  if (current !== undefined && fitsPacking(current, packing)) return refresh(current, registered);
  const expected = expectedStreamManagers(packing);
  const missing = expected.filter((id) => !registered.has(id));
  if (missing.length > 0) return { kind: 'wait', missing };
  const streamManagers = [...registered.values()].map((registration) => registration.address);
  return {
    kind: 'store',
    addresses: {
      streamManagers: streamManagers.toSorted(byContainer),
      instances: expectedInstances(packing),
    },
  };
}

/** Neither ever changes, and every registration asks again (docs/scale.md). */
const fits = new WeakMap<Addresses, { readonly packing: PackingPlan; readonly isFit: boolean }>();

/** True when the plan places exactly the packing plan's instances where it says. */
function fitsPacking(addresses: Addresses, packing: PackingPlan): boolean {
  const before = fits.get(addresses);
  if (before?.packing === packing) return before.isFit;
  const isFit = placesAll(addresses, packing);
  fits.set(addresses, { packing, isFit });
  return isFit;
}

function placesAll(addresses: Addresses, packing: PackingPlan): boolean {
  const expected = expectedStreamManagers(packing);
  const planned = new Set(addresses.streamManagers.map((streamManager) => streamManager.id));
  return (
    addresses.streamManagers.length === expected.length &&
    expected.every((id) => planned.has(id)) &&
    isSamePlacement(addresses.instances, expectedInstances(packing))
  );
}

function refresh(
  current: Addresses,
  registered: ReadonlyMap<StreamManagerId, Registration>,
): PlanDecision {
  const streamManagers = current.streamManagers.map(
    (known) => registered.get(known.id)?.address ?? known,
  );
  const isUnchanged = current.streamManagers.every((known, index) => {
    const fresh = streamManagers[index];
    return fresh !== undefined && isSameAddress(known, fresh);
  });
  if (isUnchanged) return { kind: 'keep' };
  return { kind: 'store', addresses: { streamManagers, instances: current.instances } };
}

import {
  type ContainerId,
  containerOfStreamManager,
  type Epoch,
  type StreamManagerId,
} from '../base/ids.ts';
import type { StreamManagerAddress } from '../model/physical-plan.ts';
import {
  type Membership,
  type MembershipClaim,
  type Refusal,
  refusalOfProcess,
  refusalOfTopology,
  refuse,
} from './membership.ts';

/*
  Which stream managers may talk to each other. Each pair has one connection, which the one in the
  container with the smaller id dials. It says hello with the plan that it works by:

  H1. A hello by an older plan than ours is refused. Its sender is either about to learn the newer
      plan and tries again, or it has been replaced and must never speak for its container again.
  H2. A hello by a newer plan than ours is fine: the plan is on its way to us. So is one that comes
      before our first plan.
  H3. When a plan moves a stream manager to another address, a link that it dialled by an older plan
      is closed: H1 for links that are already up. At the same address a port tells the incarnations
      apart, since the old one must have left it.
  H4. A stream manager of another implementation knows neither token nor engine version and is
      refused, so all of one mesh understand each other's leases. What comes without them holds all
      the same (hold-book.ts, B2), and without a component it holds all spouts.
*/

/** What a stream manager says when it connects to another one. */
export interface HelloClaim extends MembershipClaim {
  readonly streamManager: StreamManagerId;
  readonly planEpoch: Epoch;
}

/** What the one that is dialled knows. */
export interface HelloFacts {
  readonly own: Membership;
  readonly ownContainer: ContainerId;
  /** Absent before the first plan. */
  readonly plan:
    | { readonly epoch: Epoch; readonly streamManagers: readonly StreamManagerAddress[] }
    | undefined;
}

/** Pure: why a stream manager that says hello is turned away; undefined when it is welcome. */
export function refusalOfHello(claim: HelloClaim, facts: HelloFacts): Refusal | undefined {
  const refusal = refusalOfTopology(claim, facts.own) ?? refusalOfProcess(claim, facts.own);
  if (refusal !== undefined) return refusal;
  const container = containerOfStreamManager(claim.streamManager);
  if (container === undefined || container >= facts.ownContainer) {
    return refuse('NOT_EXPECTED', `${claim.streamManager} is not one that dials this container`);
  }
  if (facts.plan === undefined) return undefined; // H2
  if (claim.planEpoch < facts.plan.epoch) {
    const { epoch } = facts.plan;
    return refuse('STALE_EPOCH', `plan ${epoch} is in force, not plan ${claim.planEpoch}`);
  }
  const isKnown = facts.plan.streamManagers.some(({ id }) => id === claim.streamManager);
  if (isKnown || claim.planEpoch > facts.plan.epoch) return undefined;
  return refuse('NOT_EXPECTED', `${claim.streamManager} is not in plan ${facts.plan.epoch}`);
}

/** Whether a stream manager is somewhere else in the newer plan. */
export function hasMoved(before: StreamManagerAddress, after: StreamManagerAddress): boolean {
  return before.host !== after.host || before.dataPort !== after.dataPort;
}

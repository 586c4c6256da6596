import type { ErrorCode } from '../base/errors.ts';
import type { TopologyId, TopologyName } from '../base/ids.ts';
import { isSameSecret } from '../base/secret.ts';

/** What every process of one topology knows, and shows when it meets another one. */
export interface Membership {
  readonly topologyName: TopologyName;
  readonly topologyId: TopologyId;
  readonly token: string;
  readonly engineVersion: string;
}

/** What a peer says about itself; Heron's own processes know neither token nor engine version. */
export interface MembershipClaim {
  readonly topologyName: string;
  readonly topologyId: string;
  readonly token: string | undefined;
  readonly engineVersion: string | undefined;
}

/** Why a peer is turned away, in words that go back to it and into both logs. */
export interface Refusal {
  readonly kind: 'refuse';
  readonly code: ErrorCode;
  readonly why: string;
}

export function refuse(code: ErrorCode, why: string): Refusal {
  return { kind: 'refuse', code, why };
}

/** The checks of name and id, which even foreign peers must pass. */
export function refusalOfTopology(claim: MembershipClaim, own: Membership): Refusal | undefined {
  if (claim.topologyName === own.topologyName && claim.topologyId === own.topologyId) {
    return undefined;
  }
  return refuse(
    'WRONG_TOPOLOGY',
    `this is topology ${own.topologyName} with id ${own.topologyId}, ` +
      `not ${claim.topologyName} with id ${claim.topologyId}`,
  );
}

/** The checks that only our own processes can pass. */
export function refusalOfProcess(claim: MembershipClaim, own: Membership): Refusal | undefined {
  if (!isSameSecret(claim.token, own.token)) {
    return refuse('NOT_AUTHORIZED', 'the token of the topology is missing or wrong');
  }
  if (claim.engineVersion !== own.engineVersion) {
    return refuse(
      'VERSION_MISMATCH',
      `this stream manager runs engine version ${own.engineVersion}, ` +
        `the peer runs ${claim.engineVersion ?? 'an unknown one'}`,
    );
  }
  return undefined;
}

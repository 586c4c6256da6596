import type { Epoch } from '../base/ids.ts';
import { isSameSecret } from '../base/secret.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import type { InstanceAddress, StreamManagerAddress } from '../model/physical-plan.ts';
import {
  type Addresses,
  areSameProcesses,
  expectedInstancesOf,
  isSameProcess,
} from './placement.ts';

/*
  Who may register as a stream manager. The request carries no topology name: the token is the
  topology's own, so it proves name and id at once.

  In the middle of an update a stream manager may serve what the packing plan says or, as long as it
  has not heard of that one, what the physical plan in force says.
*/

/** What a stream manager says of itself and its container. */
export interface Registration {
  readonly address: StreamManagerAddress;
  readonly instances: readonly InstanceAddress[];
}

export interface RegistrationClaim extends Registration {
  /** Undefined when absent, as in requests of Heron's own stream manager. */
  readonly token: string | undefined;
  readonly engineVersion: string | undefined;
  /** The newest incarnation of the master that the sender knows of; 0 when it says nothing. */
  readonly masterEpoch: Epoch;
}

/** A stream manager that is registered now. */
export interface KnownStreamManager {
  readonly address: StreamManagerAddress;
  /** By the monotonic clock. */
  readonly lastHeardMs: number;
}

export interface RegistrationFacts {
  readonly claim: RegistrationClaim;
  readonly packing: PackingPlan;
  /** Undefined before the first plan. */
  readonly inForce: Addresses | undefined;
  readonly token: string;
  readonly engineVersion: string;
  /** True when no component is ours: then Heron's own processes may take part, without a token. */
  readonly isForeign: boolean;
  readonly masterEpoch: Epoch;
  /** The one that holds the claimed id through an open connection. */
  readonly holder: KnownStreamManager | undefined;
  readonly nowMs: number;
  readonly timeoutMs: number;
}

/** Heron's status codes, as far as a registration gets them. */
export type RefusalStatus = 'NOTOK' | 'INVALID_STMGR' | 'DUPLICATE_STRMGR';

export type RegistrationDecision =
  | { readonly kind: 'accept' }
  | { readonly kind: 'replace' }
  | {
      readonly kind: 'refuse';
      readonly status: RefusalStatus;
      readonly reason: string;
      /** True when another packing plan could make it right. */
      readonly isMisplaced: boolean;
    }
  /** The sender has met a newer incarnation of the master. */
  | { readonly kind: 'step-down'; readonly reason: string };

/** Pure: what a registration means. `replace` says that the holder's connection has to go first. */
export function decideRegistration(facts: RegistrationFacts): RegistrationDecision {
  const { claim } = facts;
  const unfit = unfitToSpeak(facts);
  if (unfit !== undefined) return refuse('NOTOK', unfit);
  if (claim.masterEpoch > facts.masterEpoch) {
    const reason = `${claim.address.id} has met the topology master of epoch ${claim.masterEpoch}`;
    return { kind: 'step-down', reason };
  }
  return misplacement(facts) ?? decideHolder(facts);
}

function unfitToSpeak({ claim, token, engineVersion, isForeign }: RegistrationFacts) {
  const isOurs = !isForeign || claim.token !== undefined;
  if (!isOurs) return undefined;
  if (!isSameSecret(claim.token, token)) return "NOT_AUTHORIZED: the token is not the topology's";
  if (claim.engineVersion === engineVersion) return undefined;
  const theirs = `${claim.address.id} is ${claim.engineVersion ?? 'unknown'}`;
  return `VERSION_MISMATCH: the topology master is heron-ts ${engineVersion}, ${theirs}`;
}

function misplacement({
  claim,
  packing,
  inForce,
}: RegistrationFacts): RegistrationDecision | undefined {
  const { id } = claim.address;
  const expected = expectedInstancesOf(packing, id);
  if (expected !== undefined && areSameProcesses(expected, claim.instances)) return undefined;
  const served = inForce?.instances.filter(({ streamManager }) => streamManager === id) ?? [];
  if (served.length > 0 && areSameProcesses(served, claim.instances)) return undefined;
  if (expected === undefined && served.length === 0) {
    const reason = `${id} is not in the packing plan`;
    return { kind: 'refuse', status: 'INVALID_STMGR', reason, isMisplaced: true };
  }
  const ids = (instances: readonly InstanceAddress[]): string =>
    instances.map((instance) => instance.id).join(', ') || 'none';
  const [given, planned] = [ids(claim.instances), ids(expected ?? served)];
  const reason = `NOT_EXPECTED: ${id} serves ${given}; the packing plan says ${planned}`;
  return { kind: 'refuse', status: 'NOTOK', reason, isMisplaced: true };
}

/** A process that comes back knows best that its old connection is dead; others have to wait. */
function decideHolder({
  claim,
  holder,
  nowMs,
  timeoutMs,
}: RegistrationFacts): RegistrationDecision {
  if (holder === undefined) return { kind: 'accept' };
  const isHeard = nowMs - holder.lastHeardMs <= timeoutMs;
  if (!isHeard || isSameProcess(holder.address, claim.address)) return { kind: 'replace' };
  const { id, host, pid } = holder.address;
  return refuse('DUPLICATE_STRMGR', `${id} is already served by process ${pid} on ${host}`);
}

function refuse(status: RefusalStatus, reason: string): RegistrationDecision {
  return { kind: 'refuse', status, reason, isMisplaced: false };
}

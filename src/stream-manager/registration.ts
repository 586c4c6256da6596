import {
  type ComponentName,
  type ContainerId,
  instanceId,
  instanceIdOf,
  type InstanceId,
  type StreamManagerId,
  type TaskId,
} from '../base/ids.ts';
import type { ComponentLanguage } from '../model/logical-topology.ts';
import type { InstanceAddress } from '../model/physical-plan.ts';
import {
  type Membership,
  type MembershipClaim,
  type Refusal,
  refusalOfProcess,
  refusalOfTopology,
  refuse,
} from './membership.ts';

/** What an instance says of itself when it registers. */
export interface RegistrationClaim extends MembershipClaim {
  readonly instance: InstanceAddress;
  /** Present when the instance speaks credits. */
  readonly creditBytes: number | undefined;
}

/** What a stream manager knows of the instances that it waits for. */
export interface ExpectedInstances {
  readonly streamManager: StreamManagerId;
  readonly container: ContainerId;
  readonly ids: ReadonlySet<InstanceId>;
  readonly languages: ReadonlyMap<ComponentName, ComponentLanguage>;
}

export type RegistrationDecision =
  | Refusal
  | {
      readonly kind: 'accept';
      /** A foreign instance does not speak credits; its socket is all that can be paced. */
      readonly isForeign: boolean;
    };

/**
 * Pure: whether an instance may register. A second connection of the same instance is accepted; the
 * caller closes the older one, since a half-open connection would otherwise lock the instance out.
 */
export function decideRegistration(
  claim: RegistrationClaim,
  own: Membership,
  expected: ExpectedInstances,
): RegistrationDecision {
  const wrongTopology = refusalOfTopology(claim, own);
  if (wrongTopology !== undefined) return wrongTopology;
  const unexpected = refusalOfInstance(claim.instance, expected);
  if (unexpected !== undefined) return unexpected;
  const language = expected.languages.get(claim.instance.component);
  if (language === undefined) {
    const { component } = claim.instance;
    return refuse('NOT_EXPECTED', `the topology has no component ${component}`);
  }
  if (language !== 'typescript') return { kind: 'accept', isForeign: true };
  const refusal = refusalOfProcess(claim, own);
  if (refusal !== undefined) return refusal;
  if (claim.creditBytes === undefined || claim.creditBytes <= 0) {
    return refuse('UNEXPECTED_MESSAGE', 'an instance of this engine has to name its credit');
  }
  return { kind: 'accept', isForeign: false };
}

function refusalOfInstance(
  instance: InstanceAddress,
  expected: ExpectedInstances,
): Refusal | undefined {
  const { id, streamManager, component, task } = instance;
  if (streamManager !== expected.streamManager) {
    return refuse('NOT_EXPECTED', `this is ${expected.streamManager}, not ${streamManager}`);
  }
  if (!expected.ids.has(id)) {
    return refuse('NOT_EXPECTED', `${id} is not an instance of this container`);
  }
  if (id !== instanceIdOf(expected.container, component, task)) {
    return refuse('NOT_EXPECTED', `${id} is not task ${task} of component ${component}`);
  }
  return undefined;
}

/** The task in an instance id such as `container_1_count_4`, or undefined when it is not one. */
export function taskOfInstanceId(id: InstanceId): TaskId | undefined {
  const digits = /_(\d{1,9})$/.exec(instanceId(id))?.[1];
  return digits === undefined ? undefined : (Number(digits) as TaskId);
}

import type { InstanceId, StreamManagerId } from '../base/ids.ts';
import type { PhysicalPlan } from '../model/physical-plan.ts';
import { type Refusal, refuse } from './membership.ts';

export interface PlanFacts {
  readonly streamManager: StreamManagerId;
  readonly topologyId: string;
  /** The instances of this container that are expected; a plan may know fewer of them. */
  readonly instanceIds: ReadonlySet<InstanceId>;
  /** The plan in force; absent before the first. */
  readonly current: PhysicalPlan | undefined;
}

export type PlanDecision =
  | Refusal
  | { readonly kind: 'accept' }
  /** The same plan once more. */
  | { readonly kind: 'ignore' };

/** Pure: what a stream manager does with a plan from the topology master. */
export function decidePlan(plan: PhysicalPlan, facts: PlanFacts): PlanDecision {
  const { current, streamManager, instanceIds } = facts;
  if (plan.topology.id !== facts.topologyId) {
    return refuse('WRONG_TOPOLOGY', `the plan is for ${plan.topology.id}`);
  }
  if (current !== undefined && plan.epoch < current.epoch) {
    return refuse('STALE_EPOCH', `plan ${current.epoch} is in force, plan ${plan.epoch} is older`);
  }
  // Foreign masters do not number their plans: each of theirs may be new.
  if (current !== undefined && plan.epoch === current.epoch && plan.epoch > 0) {
    return { kind: 'ignore' };
  }
  const planned = plan.instances.filter((instance) => instance.streamManager === streamManager);
  if (!plan.streamManagers.some(({ id }) => id === streamManager)) {
    if (planned.length === 0 && hasRetired(current, streamManager)) return { kind: 'accept' };
    return refuse('NOT_EXPECTED', `plan ${plan.epoch} does not know ${streamManager}`);
  }
  const earlier = idsOf(current, streamManager);
  if (!planned.every(({ id }) => instanceIds.has(id) || earlier.has(id))) {
    const ids = planned.map(({ id }) => id).join(', ');
    return refuse(
      'NOT_EXPECTED',
      `plan ${plan.epoch} gives this container other instances: ${ids}`,
    );
  }
  return { kind: 'accept' };
}

/** Whether a plan has marked a whole container as retiring: the next one may be without it. */
function hasRetired(plan: PhysicalPlan | undefined, id: StreamManagerId): boolean {
  const own = plan?.instances.filter(({ streamManager }) => streamManager === id) ?? [];
  return own.length > 0 && own.every(({ isRetiring }) => isRetiring === true);
}

function idsOf(plan: PhysicalPlan | undefined, id: StreamManagerId): ReadonlySet<InstanceId> {
  const own = plan?.instances.filter(({ streamManager }) => streamManager === id) ?? [];
  return new Set(own.map((instance) => instance.id));
}

import type { InstanceId, StreamManagerId } from '../base/ids.ts';
import type { PhysicalPlan } from '../model/physical-plan.ts';
import { type Refusal, refuse } from './membership.ts';

export interface PlanFacts {
  readonly streamManager: StreamManagerId;
  readonly topologyId: string;
  readonly instanceIds: ReadonlySet<InstanceId>;
  /** The plan in force; absent before the first. */
  readonly current: PhysicalPlan | undefined;
}

export type PlanDecision =
  | Refusal
  | { readonly kind: 'accept' }
  /** The same plan once more. */
  | { readonly kind: 'ignore' }
  /**
   * The tasks are others than before. As in Heron, a stream manager works for one set of tasks:
   * another process takes over, which the executor starts.
   */
  | { readonly kind: 'restart' };

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
  if (!plan.streamManagers.some(({ id }) => id === streamManager)) {
    return refuse('NOT_EXPECTED', `plan ${plan.epoch} does not know ${streamManager}`);
  }
  const planned = plan.instances.filter((instance) => instance.streamManager === streamManager);
  const isOurs =
    planned.length === instanceIds.size && planned.every(({ id }) => instanceIds.has(id));
  if (!isOurs) {
    const ids = planned.map(({ id }) => id).join(', ');
    return refuse(
      'NOT_EXPECTED',
      `plan ${plan.epoch} gives this container other instances: ${ids}`,
    );
  }
  if (current !== undefined && tasksOf(current) !== tasksOf(plan)) return { kind: 'restart' };
  return { kind: 'accept' };
}

/** Which task is where, as text to compare. */
function tasksOf(plan: PhysicalPlan): string {
  return plan.instances
    .map(({ id, task, component, streamManager }) => `${task}:${id}:${component}:${streamManager}`)
    .toSorted()
    .join('\n');
}

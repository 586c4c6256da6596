import type { TaskId } from '../../base/ids.ts';
import type { InstanceAddress, PhysicalPlan } from '../../model/physical-plan.ts';

/*
  The life of a task. Plans, the end of input and the order to stop arrive in any order; only this
  file decides what they mean.

  P1. A component is opened once, with the newest plan at that moment.
  P2. `activate` and `deactivate` strictly alternate, and the first of them is only called when the
      state differs from the one in which the component began to run.
  P3. A plan that is older than the one at hand changes nothing.
  P4. A task that had ended before this process was started makes no component, whatever comes.
  P5. `stopping` is final.
  P6. The input of a spout that is drained ends once, and never comes back. It is drained when the
      whole topology is, and when an update takes its task away. A bolt is left to the end of its
      own input.
  P7. A plan that does not name this task changes nothing: before it is opened, one that does will
      come; afterwards it goes on as it is until it is stopped.
  P8. A spout whose place, its index, still is that of a task which an update takes away is not
      opened before a plan without that one: what they read never has two readers. Only spouts have
      sources by index; bolts take over what their groupings give them.
*/

export type TaskPhase =
  | { readonly at: 'awaiting-plan' }
  /** P8. */
  | { readonly at: 'awaiting-place'; readonly plan: PhysicalPlan }
  | { readonly at: 'opening'; readonly plan: PhysicalPlan }
  | { readonly at: 'running'; readonly plan: PhysicalPlan }
  | { readonly at: 'ended'; readonly plan: PhysicalPlan }
  | { readonly at: 'ended-before' }
  | { readonly at: 'stopping' };

export type TaskEvent =
  | { readonly kind: 'plan'; readonly plan: PhysicalPlan }
  | { readonly kind: 'opened' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'ended-before' }
  | { readonly kind: 'stop' };

/** What the shell has to do after a step. */
export type TaskStep =
  | 'none'
  | 'await-place'
  | 'open'
  | 'run'
  | 'activate'
  | 'deactivate'
  | 'drain'
  | 'stop';

export interface TaskDecision {
  readonly phase: TaskPhase;
  readonly step: TaskStep;
}

export function advance(task: TaskId, phase: TaskPhase, event: TaskEvent): TaskDecision {
  if (phase.at === 'stopping') return { phase, step: 'none' };
  switch (event.kind) {
    case 'stop':
      return { phase: { at: 'stopping' }, step: 'stop' };
    case 'plan':
      return onPlan(task, phase, event.plan);
    case 'opened':
      if (phase.at !== 'opening') return { phase, step: 'none' };
      return { phase: { at: 'running', plan: phase.plan }, step: 'run' };
    case 'ended':
      if (phase.at !== 'running') return { phase, step: 'none' };
      return { phase: { at: 'ended', plan: phase.plan }, step: 'none' };
    case 'ended-before':
      if (phase.at !== 'awaiting-plan' && phase.at !== 'awaiting-place') {
        return { phase, step: 'none' };
      }
      return { phase: { at: 'ended-before' }, step: 'none' };
  }
}

function onPlan(
  task: TaskId,
  phase: Exclude<TaskPhase, { at: 'stopping' }>,
  plan: PhysicalPlan,
): TaskDecision {
  const own = plan.instances.find((instance) => instance.task === task);
  if (phase.at === 'ended-before' || own === undefined) return { phase, step: 'none' };
  if (phase.at !== 'awaiting-plan' && plan.epoch < phase.plan.epoch) return { phase, step: 'none' };
  if (phase.at === 'awaiting-plan' || phase.at === 'awaiting-place') {
    if (!isPlaceHeld(own, plan)) return { phase: { at: 'opening', plan }, step: 'open' };
    const step = phase.at === 'awaiting-plan' ? 'await-place' : 'none';
    return { phase: { at: 'awaiting-place', plan }, step };
  }
  if (isKilled(phase.plan)) return { phase, step: 'none' };
  const next = { ...phase, plan };
  if (phase.at !== 'running') return { phase: next, step: 'none' };
  if (isDrained(plan, task) && !isDrained(phase.plan, task)) return { phase: next, step: 'drain' };
  const isChanged = isActive(plan) !== isActive(phase.plan) && !isKilled(plan);
  const step = isActive(plan) ? 'activate' : 'deactivate';
  return { phase: next, step: isChanged ? step : 'none' };
}

/** P8. */
function isPlaceHeld(own: InstanceAddress, { topology, instances }: PhysicalPlan): boolean {
  const declared = topology.components.find(({ name }) => name === own.component);
  if (declared?.kind !== 'spout' || own.isRetiring === true) return false;
  return instances.some(
    ({ component, componentIndex, isRetiring }) =>
      isRetiring === true && component === own.component && componentIndex === own.componentIndex,
  );
}

/** Whether spouts are to emit. */
export function isActive(plan: PhysicalPlan): boolean {
  return plan.topology.state === 'RUNNING';
}

/** Whether a task, if it is one of a spout, is to end. */
export function isDrained(plan: PhysicalPlan, task: TaskId): boolean {
  return isKilled(plan) || plan.instances.some((one) => one.task === task && one.isRetiring);
}

/** All spouts are to end (model/drain-request.ts), which no later plan takes back. */
export function isKilled(plan: PhysicalPlan): boolean {
  return plan.topology.state === 'KILLED';
}

import type { PhysicalPlan } from '../../model/physical-plan.ts';

/*
  The life of a task. Plans, the end of input and the order to stop arrive in any order; only this
  file decides what they mean.

  P1. A component is opened once, with the newest plan at that moment.
  P2. `activate` and `deactivate` strictly alternate, and the first of them is only called when the
      state differs from the one in which the component began to run.
  P3. A plan that is older than the one at hand changes nothing.
  P4. A task that had ended before this process was started makes no component, whatever comes.
  P5. `stopping` is final.
  P6. The input of a spout that is drained ends once, and never comes back.
*/

export type TaskPhase =
  | { readonly at: 'awaiting-plan' }
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
export type TaskStep = 'none' | 'open' | 'run' | 'activate' | 'deactivate' | 'drain' | 'stop';

export interface TaskDecision {
  readonly phase: TaskPhase;
  readonly step: TaskStep;
}

export function advance(phase: TaskPhase, event: TaskEvent): TaskDecision {
  if (phase.at === 'stopping') return { phase, step: 'none' };
  switch (event.kind) {
    case 'stop':
      return { phase: { at: 'stopping' }, step: 'stop' };
    case 'plan':
      return onPlan(phase, event.plan);
    case 'opened':
      if (phase.at !== 'opening') return { phase, step: 'none' };
      return { phase: { at: 'running', plan: phase.plan }, step: 'run' };
    case 'ended':
      if (phase.at !== 'running') return { phase, step: 'none' };
      return { phase: { at: 'ended', plan: phase.plan }, step: 'none' };
    case 'ended-before':
      if (phase.at !== 'awaiting-plan') return { phase, step: 'none' };
      return { phase: { at: 'ended-before' }, step: 'none' };
  }
}

function onPlan(phase: Exclude<TaskPhase, { at: 'stopping' }>, plan: PhysicalPlan): TaskDecision {
  if (phase.at === 'ended-before') return { phase, step: 'none' };
  if (phase.at === 'awaiting-plan') return { phase: { at: 'opening', plan }, step: 'open' };
  if (plan.epoch < phase.plan.epoch) return { phase, step: 'none' };
  const isRunning = phase.at === 'running';
  if (isDrained(phase.plan)) return { phase, step: 'none' };
  if (isDrained(plan)) return { phase: { ...phase, plan }, step: isRunning ? 'drain' : 'none' };
  const isChanged = isActive(plan) !== isActive(phase.plan);
  const step = isActive(plan) ? 'activate' : 'deactivate';
  return { phase: { ...phase, plan }, step: isChanged && isRunning ? step : 'none' };
}

/** Whether spouts are to emit. */
export function isActive(plan: PhysicalPlan): boolean {
  return plan.topology.state === 'RUNNING';
}

/** Whether spouts are to end (model/drain-request.ts). */
export function isDrained(plan: PhysicalPlan): boolean {
  return plan.topology.state === 'KILLED';
}

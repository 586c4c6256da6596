import type { PhysicalPlan } from '../../model/physical-plan.ts';

/*
  The life of a task. Plans, the end of input and the order to stop arrive in any order; only this
  file decides what they mean.

  P1. A component is opened once, with the first plan.
  P2. `activate` and `deactivate` strictly alternate, and the first of them is only called when the
      state differs from the one in which the component was opened.
  P3. `stopping` is final.
*/

export type TaskPhase =
  | { readonly at: 'awaiting-plan' }
  | { readonly at: 'opening'; readonly plan: PhysicalPlan }
  | { readonly at: 'running'; readonly plan: PhysicalPlan; readonly active: boolean }
  | { readonly at: 'ended'; readonly plan: PhysicalPlan; readonly active: boolean }
  | { readonly at: 'stopping' };

export type TaskEvent =
  | { readonly kind: 'plan'; readonly plan: PhysicalPlan }
  | { readonly kind: 'opened' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'stop' };

/** What the shell has to do after a step. */
export type TaskStep = 'none' | 'open' | 'run' | 'activate' | 'deactivate' | 'stop';

export interface TaskDecision {
  readonly phase: TaskPhase;
  readonly step: TaskStep;
}

export function advance(phase: TaskPhase, event: TaskEvent): TaskDecision {
  if (event.kind === 'stop') {
    return { phase: { at: 'stopping' }, step: phase.at === 'stopping' ? 'none' : 'stop' };
  }
  switch (phase.at) {
    case 'awaiting-plan':
      if (event.kind !== 'plan') return { phase, step: 'none' };
      return { phase: { at: 'opening', plan: event.plan }, step: 'open' };
    case 'opening':
      if (event.kind === 'plan') return { phase: { ...phase, plan: event.plan }, step: 'none' };
      if (event.kind !== 'opened') return { phase, step: 'none' };
      return {
        phase: { at: 'running', plan: phase.plan, active: isActive(phase.plan) },
        step: 'run',
      };
    case 'running':
    case 'ended':
      if (event.kind === 'ended') return { phase: { ...phase, at: 'ended' }, step: 'none' };
      if (event.kind !== 'plan') return { phase, step: 'none' };
      return onPlan(phase, event.plan);
    case 'stopping':
      return { phase, step: 'none' };
  }
}

function onPlan(
  phase: Extract<TaskPhase, { at: 'running' | 'ended' }>,
  plan: PhysicalPlan,
): TaskDecision {
  if (plan.epoch < phase.plan.epoch) return { phase, step: 'none' };
  const active = isActive(plan);
  const step = active === phase.active ? 'none' : active ? 'activate' : 'deactivate';
  return { phase: { ...phase, plan, active }, step };
}

function isActive(plan: PhysicalPlan): boolean {
  return plan.topology.state === 'RUNNING';
}

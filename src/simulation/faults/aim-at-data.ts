import type { Random } from '../../base/random.ts';
import type { Ends, Fault, FaultPlan, Target } from './fault.ts';

/** More than any workload has of a role: all of them. */
const ALL = 12;

/**
 * The plan with every second fault of links turned to those that carry tuples and acks: all between
 * a stream manager and its instances, all of one instance, or those between the stream managers.
 */
export function aimAtData(random: Random, plan: FaultPlan): FaultPlan {
  return plan.map((fault) => {
    if (!('between' in fault) || random.below(2) === 0) return fault;
    return { ...fault, between: dataLinks(random) } satisfies Fault;
  });
}

function dataLinks(random: Random): Ends {
  const index = random.below(ALL);
  switch (random.below(3)) {
    case 0:
      return [[`stream-manager#${index}`], all('instance')];
    case 1:
      return [[`instance#${index}`], all('stream-manager')];
    default:
      return [all('stream-manager'), all('stream-manager')];
  }
}

function all(role: 'instance' | 'stream-manager'): readonly Target[] {
  return Array.from({ length: ALL }, (_, index): Target => `${role}#${index}`);
}

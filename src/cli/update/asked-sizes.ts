import { planSizes } from '../../model/plan-sizes.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';
import type { RepackRequest } from '../../packing/packing.ts';

/** Whether a plan already has all that a request names. */
export function hasAsked(plan: PackingPlan, { parallelism, containers }: RepackRequest): boolean {
  const sizes = planSizes(plan);
  if (containers !== undefined && containers !== sizes.containers) return false;
  return Array.from(parallelism ?? []).every(([name, wanted]) => sizes.tasks.get(name) === wanted);
}

/** For people: what of a plan a request names. */
export function askedText(plan: PackingPlan, { parallelism, containers }: RepackRequest): string {
  const sizes = planSizes(plan);
  const tasks = Array.from(parallelism?.keys() ?? [], (name) => {
    return `${name} has ${counted(sizes.tasks.get(name) ?? 0, 'task')}`;
  });
  if (containers === undefined) return tasks.join(', ');
  const verb = sizes.containers === 1 ? 'is' : 'are';
  return [...tasks, `there ${verb} ${counted(sizes.containers, 'container')}`].join(', ');
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

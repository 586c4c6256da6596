import type { ComponentName } from '../base/ids.ts';
import type { PackingPlan } from './packing-plan.ts';

/** How large a plan is, in the numbers that an update can change; without what retires. */
export interface PlanSizes {
  /** The tasks of each component, in the order of the components' first tasks. */
  readonly tasks: ReadonlyMap<ComponentName, number>;
  readonly containers: number;
}

/** One number of two plans. */
export interface SizeChange {
  /** Undefined for the containers. */
  readonly component: ComponentName | undefined;
  readonly from: number;
  readonly to: number;
}

export function planSizes({ containers }: PackingPlan): PlanSizes {
  const tasks = new Map<ComponentName, number>();
  const staying = containers.map(({ instances }) =>
    instances.filter(({ isRetiring }) => isRetiring !== true),
  );
  const inOrder = staying.flat().toSorted((left, right) => left.task - right.task);
  for (const { component } of inOrder) tasks.set(component, (tasks.get(component) ?? 0) + 1);
  return { tasks, containers: staying.filter((instances) => instances.length > 0).length };
}

/** What of a plan differs in another one: components first, then the containers. */
export function sizeChanges(before: PackingPlan, after: PackingPlan): readonly SizeChange[] {
  const was = planSizes(before);
  const is = planSizes(after);
  const names = new Set([...was.tasks.keys(), ...is.tasks.keys()]);
  const all: readonly SizeChange[] = [
    ...Array.from(names, (component) => ({
      component,
      from: was.tasks.get(component) ?? 0,
      to: is.tasks.get(component) ?? 0,
    })),
    { component: undefined, from: was.containers, to: is.containers },
  ];
  return all.filter(({ from, to }) => from !== to);
}

/** For people: `count 2 → 4, containers 1 → 2`. */
export function changesText(
  changes: readonly (Omit<SizeChange, 'component'> & {
    readonly component: string | null | undefined;
  })[],
): string {
  return changes
    .map(({ component, from, to }) => `${component ?? 'containers'} ${from} → ${to}`)
    .join(', ');
}

import type { ProcessRole, Target } from './fault.ts';

/*
  Which processes a target means at the moment when its fault strikes. Pure.
*/

/** What the name of a process says: `stmgr-2` is the stream manager of container 2. */
export interface ProcessPlace {
  readonly role: ProcessRole;
  /** Undefined for the scheduler, which belongs to none. */
  readonly container: number | undefined;
}

const NAMES: readonly (readonly [RegExp, ProcessRole])[] = [
  [/^executor-(\d+)$/, 'executor'],
  [/^stmgr-(\d+)$/, 'stream-manager'],
  [/^metricsmgr-(\d+)$/, 'metrics-manager'],
  [/^container_(\d+)_/, 'instance'],
];

/** Undefined for what is no process of a topology, such as a command. */
export function placeOf(name: string): ProcessPlace | undefined {
  if (name === 'scheduler') return { role: 'scheduler', container: undefined };
  // The second one of a duplicate start, too.
  if (/^(?:heron-)?tm(?:aster|anager)\b/.test(name))
    return { role: 'topology-master', container: 0 };
  if (name === 'heron-metricscache') return { role: 'metrics-cache', container: 0 };
  for (const [form, role] of NAMES) {
    const digits = form.exec(name)?.[1];
    if (digits !== undefined) return { role, container: Number(digits) };
  }
  return undefined;
}

const DUPLICATE = '-duplicate';

export function duplicateName(name: string): string {
  return `${name}${DUPLICATE}`;
}

export function isDuplicate(name: string): boolean {
  return name.endsWith(DUPLICATE);
}

/** The names among `names` that the target means; none when there is nothing of that role. */
export function resolveTarget(target: Target, names: readonly string[]): readonly string[] {
  const [role, number] = parseTarget(target);
  const inOrder = names.toSorted(byNumbers);
  if (role === 'container') return inOrder.filter((name) => placeOf(name)?.container === number);
  const ofRole = inOrder.filter((name) => placeOf(name)?.role === role);
  const chosen = ofRole[number % ofRole.length];
  return chosen === undefined ? [] : [chosen];
}

/** Without repeats, in the order of the targets. */
export function resolveTargets(
  targets: readonly Target[],
  names: readonly string[],
): readonly string[] {
  return [...new Set(targets.flatMap((target) => resolveTarget(target, names)))];
}

function parseTarget(target: Target): readonly [ProcessRole | 'container', number] {
  const at = target.indexOf('#');
  return [target.slice(0, at) as ProcessRole | 'container', Number(target.slice(at + 1))];
}

/** `stmgr-2` before `stmgr-10`. */
function byNumbers(one: string, other: string): number {
  const [first, second] = [one, other].map((name) =>
    name.replaceAll(/\d+/g, (digits) => digits.padStart(6, '0')),
  );
  return first === second ? 0 : (first ?? '') < (second ?? '') ? -1 : 1;
}

import { userError } from '../base/errors.ts';
import type { ComponentName } from '../base/ids.ts';
import { isWithin } from '../model/packing-plan.ts';

/*
  How one resource of one container is shared: CPU, memory and disk follow the same rule.

    no limit    a task gets what its component asks for, or the default; the container is as big
                as its tasks and the padding together
    a limit     a task gets what its component asks for; the others share what is left of the limit
                after the padding, evenly

  C1. A container never gets more than its limit, and never more than its tasks and the padding.
  C2. Where the limit is too small for what components ask for and the padding, the padding gives
      way and a warning says so. Where it is too small without the padding, nothing is packed.
*/

/** One resource and what the topology's settings say about it. */
export interface ResourceRule {
  /** With its unit, as it stands in errors: "bytes of memory". */
  readonly unit: string;
  /** The setting that limits a container, as it stands in errors. */
  readonly limitKey: string;
  readonly limit: number | undefined;
  readonly padding: number;
  readonly default: number;
  /** Less than this is no use to a task. */
  readonly min: number;
  readonly byComponent: ReadonlyMap<string, number>;
  /** Rounds a share down to what can be given. */
  readonly roundDown: (amount: number) => number;
}

export interface Share {
  /** In the order of the tasks. */
  readonly tasks: readonly number[];
  readonly container: number;
  readonly warning?: string;
}

/**
 * Shares a resource among the tasks of a container, given by their components.
 *
 * @throws EngineError INVALID_CONFIG when the limit or a share is too small; the message has the
 *   numbers.
 */
export function share(rule: ResourceRule, where: string, tasks: readonly ComponentName[]): Share {
  const asked = tasks.map((component) => rule.byComponent.get(component));
  const used = sum(asked.map((amount) => amount ?? 0));
  const sharing = asked.filter((amount) => amount === undefined).length;
  const { limit, padding } = rule;
  const eachOf = (room: number): number => rule.roundDown(room / Math.max(sharing, 1));
  // Else fewer tasks might not fit where more do: those leave no room for the padding at all.
  const isPaddingThrottled =
    limit !== undefined &&
    (!isWithin(limit, used + padding) ||
      (sharing > 0 && eachOf(limit - used - padding) < rule.min));
  const each =
    limit === undefined ? rule.default : eachOf(limit - used - (isPaddingThrottled ? 0 : padding));
  if (limit !== undefined && (!isWithin(limit, used) || (sharing > 0 && each <= 0))) {
    throw limitTooSmall(rule, where, used, sharing, limit);
  }
  const amounts = asked.map((amount) => amount ?? each);
  for (const [position, amount] of amounts.entries()) {
    if (amount < rule.min) throw taskTooSmall(rule, where, tasks[position], amount);
  }
  const wanted = sum(amounts) + padding;
  checkAmount(where, rule.unit, wanted);
  const result = {
    tasks: amounts,
    container: limit === undefined ? wanted : Math.min(wanted, limit),
  };
  if (!isPaddingThrottled) return result;
  return { ...result, warning: paddingThrottled(rule, where, result.container - sum(amounts)) };
}

/**
 * Beyond the exact whole numbers an amount could not even be written down.
 *
 * @throws EngineError INVALID_CONFIG
 */
export function checkAmount(where: string, unit: string, amount: number): void {
  if (amount <= Number.MAX_SAFE_INTEGER) return;
  throw userError(
    'INVALID_CONFIG',
    `${where}: ${amount} ${unit} are more than any machine has; ask for less`,
  );
}

function limitTooSmall(
  rule: ResourceRule,
  where: string,
  used: number,
  sharing: number,
  limit: number,
): Error {
  const others = sharing === 0 ? '' : `, and nothing is left for ${sharing} other tasks`;
  return userError(
    'INVALID_CONFIG',
    `${where}: its components ask for ${used} ${rule.unit}, ` +
      `${rule.limitKey} is ${limit}${others}; ` +
      'raise the limit, ask for less, or use more containers (topology.stmgrs)',
  );
}

function taskTooSmall(
  rule: ResourceRule,
  where: string,
  component: ComponentName | undefined,
  amount: number,
): Error {
  const limit = rule.limit === undefined ? '' : ` (${rule.limitKey} is ${rule.limit})`;
  return userError(
    'INVALID_CONFIG',
    `${where}: a task of '${component}' gets ${amount} ${rule.unit}, it needs ${rule.min}${limit}`,
  );
}

function paddingThrottled(rule: ResourceRule, where: string, left: number): string {
  return (
    `${where}: ${rule.limitKey} leaves ${left} of ${rule.padding} ${rule.unit} ` +
    "for the engine's own processes"
  );
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

import { userError } from '../../base/errors.ts';
import type { LogicalTopology } from '../../model/logical-topology.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import { packingInForce, settledPacking } from '../../model/settled-packing.ts';
import { Settings } from '../../model/settings.ts';
import { validateTopology } from '../../model/validate-topology.ts';
import type { RepackRequest } from '../../packing/packing.ts';
import { type PlannedUpdate, updatedPlan } from '../../packing/update-plan.ts';
import { changesText, planSizes, type SizeChange, sizeChanges } from '../../model/plan-sizes.ts';
import { hasAsked } from './asked-sizes.ts';
import { isInForce } from '../../model/update-progress.ts';

/*
  What a request for other numbers means for a topology as it is. Pure, so that a command that was
  killed after any of its steps can be repeated: the state tree says how far it came.

    done      the numbers are what is asked for, and in force
    join      the stored plan is what is asked for, but not in force, or tasks still retire
    retiring  tasks of an earlier update still retire, and another plan is asked for: first wait
    store     a plan is to be stored; an update that is not yet in force gives way to it

  Numbers that the request does not name stay as they are in force.
*/

export interface UpdateFacts {
  /** As it was submitted. */
  readonly topology: LogicalTopology;
  /** As it is stored. */
  readonly packingPlan: PackingPlan;
  readonly physicalPlan: PhysicalPlan;
  readonly request: RepackRequest;
}

export type UpdateDecision =
  | { readonly kind: 'done' }
  | { readonly kind: 'join'; readonly base: PackingPlan; readonly target: PackingPlan }
  | StoredUpdate
  | (Omit<StoredUpdate, 'kind'> & { readonly kind: 'retiring' });

export interface StoredUpdate {
  readonly kind: 'store';
  readonly planned: PlannedUpdate;
  /** What another update has asked for that is not in force. */
  readonly givenUp: readonly SizeChange[];
}

/** @throws EngineError INVALID_ARGUMENT or INVALID_CONFIG when it cannot be done */
export function decideUpdate(facts: UpdateFacts): UpdateDecision {
  const { topology, packingPlan, physicalPlan, request } = facts;
  const pending = settledPacking(packingPlan);
  if (hasAsked(pending, request)) {
    const isDone = pending === packingPlan && isInForce(pending, physicalPlan);
    const base = packingInForce(packingPlan, physicalPlan);
    return isDone ? { kind: 'done' } : { kind: 'join', base, target: pending };
  }
  const staying = physicalPlan.instances.filter(({ isRetiring }) => isRetiring !== true);
  const settled = { ...physicalPlan, instances: staying };
  const planned = updatedPlan({ topology, packingPlan, physicalPlan: settled, request });
  checkTopology(topology, planned.target);
  const givenUp = sizeChanges(packingInForce(packingPlan, settled), pending);
  const kind = isRetiringIn(packingPlan, physicalPlan) ? 'retiring' : 'store';
  return { kind, planned, givenUp };
}

/** Also while what has retired still has its processes, until nobody works by an older plan. */
function isRetiringIn({ containers }: PackingPlan, { instances }: PhysicalPlan): boolean {
  const inForce = new Set(instances.map(({ task }) => task));
  return (
    instances.some(({ isRetiring }) => isRetiring === true) ||
    containers.some((container) =>
      container.instances.some(({ isRetiring, task }) => isRetiring === true && !inForce.has(task)),
    )
  );
}

/** By the rules of a submit: a bolt has at most as many tasks as key groups, for one. */
function checkTopology(topology: LogicalTopology, target: PackingPlan): void {
  const { tasks } = planSizes(target);
  const components = topology.components.map((component) => ({
    ...component,
    parallelism: tasks.get(component.name) ?? component.parallelism,
  }));
  const known = new Set(validateTopology(topology).map(({ message }) => message));
  const problems = validateTopology({ ...topology, components });
  const problem = problems.find(({ message }) => !known.has(message));
  if (problem !== undefined) throw userError('INVALID_ARGUMENT', problem.message);
}

/**
 * Why a change looks like a slip of the keyboard: one of the numbers would become more than
 * `heron.update.factor.max` times larger or smaller. Undefined when none would.
 */
export function unlikelyChange(
  { config }: LogicalTopology,
  changes: readonly SizeChange[],
): string | undefined {
  const most = new Settings(config).get('heron.update.factor.max');
  const found = changes.filter(({ from, to }) => to > from * most || from > to * most);
  if (found.length === 0) return undefined;
  return `${changesText(found)} is a change by more than ${most} times (heron.update.factor.max)`;
}

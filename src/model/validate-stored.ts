import { isForeignTopology } from './foreign-topology.ts';
import type { LogicalTopology } from './logical-topology.ts';
import type { PackingPlan } from './packing-plan.ts';
import { validatePackingPlan } from './validate-packing-plan.ts';
import { validateTopology } from './validate-topology.ts';

/*
  What was valid when it was stored may have been changed since. A topology of other languages was
  validated and packed by its own client, by its own rules.
*/

/** Everything that is wrong with a stored topology; empty when it is fit to run. */
export function storedTopologyProblems(topology: LogicalTopology): readonly string[] {
  if (isForeignTopology(topology)) return [];
  return validateTopology(topology).map(({ message }) => message);
}

/** In what a stored packing plan does not fit its topology, or breaks its own rules. */
export function storedPackingProblems(
  packing: PackingPlan,
  topology: LogicalTopology,
): readonly string[] {
  return isForeignTopology(topology) ? [] : validatePackingPlan(packing, topology.components);
}

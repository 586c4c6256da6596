import type { ConfigMap } from '../../model/logical-topology.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';

/**
 * Everything in a plan that a component can see through its context, as text to compare: the state
 * and the settings of the topology, and its tasks with their places. Two plans with equal texts
 * differ in numbers and addresses only, of which components know nothing.
 */
export function visibleFacts({ topology, instances }: PhysicalPlan): string {
  return JSON.stringify([
    topology.state,
    entriesOf(topology.config),
    topology.components.map(({ name, parallelism, config }) => [
      name,
      parallelism,
      entriesOf(config),
    ]),
    instances
      .toSorted((left, right) => left.task - right.task)
      .map(({ task, component, componentIndex, streamManager, isRetiring = false }) => [
        task,
        component,
        componentIndex,
        streamManager,
        isRetiring,
      ]),
  ]);
}

function entriesOf(config: ConfigMap): readonly (readonly [string, string])[] {
  return [...config].toSorted(([left], [right]) => (left < right ? -1 : 1));
}

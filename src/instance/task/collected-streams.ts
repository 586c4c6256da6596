import type { BuiltTopology } from '../../api/topology.ts';
import type { Component } from '../../model/logical-topology.ts';
import type { PlanIndex } from '../../model/plan-index.ts';
import { ChosenTasks } from './chosen-tasks.ts';
import { GroupingFields } from './grouping-fields.ts';
import { SentValues } from './sent-values.ts';
import type { CollectedStream } from './component-collector.ts';
import type { TaskCounters } from './task-counters.ts';

/** How each stream of a component leaves, by stream index. */
export function collectedStreams(
  { name, outputs }: Component,
  plan: PlanIndex,
  { customGroupings, serializer }: BuiltTopology,
  counters: TaskCounters,
): readonly CollectedStream[] {
  return outputs.map((output) => ({
    output,
    isRead: plan.consumersOf(name, output.stream).length > 0,
    chosenTasks: ChosenTasks.of(plan, name, output.stream, customGroupings),
    groupingFields: new GroupingFields(plan, name, output),
    sentValues: new SentValues(name, output, serializer),
    emitCount: counters.emitted(output.stream),
  }));
}

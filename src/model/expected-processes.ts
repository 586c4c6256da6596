import { instanceIdOf, streamManagerIdOf } from '../base/ids.ts';
import type { PackingPlan } from './packing-plan.ts';

/** By the names that executors give them; also for what `status` expects to find. */
export function expectedProcesses(plan: PackingPlan): readonly string[] {
  const inContainers = plan.containers.flatMap(({ id, instances }) => [
    `metricsmgr-${id}`,
    streamManagerIdOf(id),
    ...instances.map(({ component, task }) => instanceIdOf(id, component, task)),
  ]);
  return ['heron-tmanager', 'metricsmgr-0', ...inContainers];
}

const SHOWN_MAX = 4;

/** For people: the first few names. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_MAX).join(', ');
  const others = names.length - SHOWN_MAX;
  return others > 0 ? `${shown} and ${others} more` : shown;
}

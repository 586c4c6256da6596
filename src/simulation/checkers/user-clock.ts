import type { WorkloadDescription } from '../workload/workload-description.ts';

/*
  User code that takes its time does so by its own clock: that of its thread goes ahead, and the
  thread sleeps afterwards until all others are there (kernel/simulated-thread.ts). What it writes
  down may so carry a later time than what others do with it.
*/

/** Most calls of user code that may follow each other without a pause. */
const CALLS_OF_A_TURN = 50;

/** How far the clock of a component's task may be ahead of all others', at most. */
export function aheadMs({ spouts, bolts }: WorkloadDescription, component: string): number {
  const workMs = bolts.find(({ name }) => name === component)?.workMs ?? 0;
  const described = [...spouts, ...bolts].find(({ name }) => name === component);
  const hangs = described?.faults.map((fault) => (fault.kind === 'hang' ? fault.forMs : 0)) ?? [];
  return workMs * CALLS_OF_A_TURN + Math.max(0, ...hangs);
}

/** How long a call of a component may be under way before it emits, at most. */
export function underWayMs({ spouts, bolts }: WorkloadDescription, component: string): number {
  const pace = spouts.find(({ name }) => name === component)?.pace;
  const style = bolts.find(({ name }) => name === component)?.style;
  if (pace?.kind === 'awaited') return pace.everyMs;
  return style === undefined || style.kind === 'sync' ? 0 : style.afterMs;
}

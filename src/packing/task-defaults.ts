import { userError } from '../base/errors.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import type { Resource } from '../model/packing-plan.ts';

export const MIB = 1024 * 1024;
export const GIB = 1024 * MIB;

/** What a task gets of which neither its component nor the container's limit says anything. */
export const TASK_DEFAULT: Resource = { cpuCores: 1, ramBytes: GIB, diskBytes: GIB };

/**
 * Far beyond what one topology master can lead; keeps a slip of the keyboard from filling memory.
 */
const TASKS_MAX = 100_000;

export function numberOfTasks({ components }: Pick<LogicalTopology, 'components'>): number {
  return components.reduce((sum, { parallelism }) => sum + parallelism, 0);
}

/** @throws EngineError INVALID_CONFIG */
export function checkNumberOfTasks(tasks: number): void {
  if (tasks <= TASKS_MAX) return;
  const text = `the topology has ${tasks} tasks, more than ${TASKS_MAX}: lower the parallelism`;
  throw userError('INVALID_CONFIG', text);
}

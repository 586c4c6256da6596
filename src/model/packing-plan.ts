import type { ComponentName, ContainerId, Epoch, TaskId } from '../base/ids.ts';

/** What a container or an instance needs or gets. */
export interface Resource {
  readonly cpuCores: number;
  readonly ramBytes: number;
  readonly diskBytes: number;
}

/** The parts of a resource, with the units in which people read of them. */
export const RESOURCE_UNITS = [
  ['cpuCores', 'cores of CPU'],
  ['ramBytes', 'bytes of memory'],
  ['diskBytes', 'bytes of disk'],
] as const satisfies readonly (readonly [keyof Resource, string])[];

export interface InstancePlan {
  readonly component: ComponentName;
  readonly task: TaskId;
  /** Position among the tasks of its component, from 0. */
  readonly componentIndex: number;
  readonly resource: Resource;
  /** True when an update takes it away: it ends when its input has. Absent otherwise. */
  readonly isRetiring?: boolean;
}

export interface ContainerPlan {
  /** 1 or more: container 0, the topology master's, is never in a plan. */
  readonly id: ContainerId;
  readonly instances: readonly InstancePlan[];
  readonly required: Resource;
  /** What the scheduler really gave, where it differs. */
  readonly scheduled?: Resource;
}

/** Which task runs in which container. */
export interface PackingPlan {
  readonly id: string;
  readonly containers: readonly ContainerPlan[];
  /** Grows with every plan of the topology; absent in plans of other implementations. */
  readonly epoch?: Epoch;
  /** The highest task id ever given in the topology; absent: the highest one in the plan. */
  readonly lastTask?: TaskId;
  /** When an update asked for this plan, in milliseconds since the epoch; absent without one. */
  readonly updatedAtMs?: number;
  /** The plan's own epoch, once it is put in force: adopted-packing.ts. */
  readonly adoptedEpoch?: Epoch;
}

/** Whether a plan is from before the one that is known, and to be passed over. */
export function isOlderPackingPlan(plan: PackingPlan, known: PackingPlan | undefined): boolean {
  return known?.epoch !== undefined && (plan.epoch ?? 0) < known.epoch;
}

/** How many tasks each component has that stay. */
export function parallelismOf(
  instances: readonly Pick<InstancePlan, 'component' | 'isRetiring'>[],
): ReadonlyMap<ComponentName, number> {
  const tasks = new Map<ComponentName, number>();
  for (const { component, isRetiring } of instances) {
    if (isRetiring !== true) tasks.set(component, (tasks.get(component) ?? 0) + 1);
  }
  return tasks;
}

/** Shares of a core are fractions: their sum may miss the whole by a few of the last bits. */
const ROUNDING = 1e-9;
/** Bytes are whole numbers: they never miss anything by rounding. */
const ROUNDING_MAX = 0.5;

/** Whether amounts that add up to `used` fit into `limit`. */
export function isWithin(limit: number, used: number): boolean {
  return used <= largestWithin(limit);
}

/** The largest sum that still counts as within `limit`. */
export function largestWithin(limit: number): number {
  return limit + Math.min(limit * ROUNDING, ROUNDING_MAX);
}

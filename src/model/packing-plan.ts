import type { ComponentName, ContainerId, TaskId } from '../base/ids.ts';

/** What a container or an instance needs or gets. */
export interface Resource {
  readonly cpuCores: number;
  readonly ramBytes: number;
  readonly diskBytes: number;
}

export interface InstancePlan {
  readonly component: ComponentName;
  readonly task: TaskId;
  /** Position among the tasks of its component, from 0. */
  readonly componentIndex: number;
  readonly resource: Resource;
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
}

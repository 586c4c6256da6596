import { assert, assertDefined } from '../base/assert.ts';
import { type ContainerId, type TaskId, taskId } from '../base/ids.ts';
import { comparePackingPlans, type PackingPlanChanges } from '../model/compare-packing-plans.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import type { ContainerPlan, InstancePlan, PackingPlan, Resource } from '../model/packing-plan.ts';
import type { PhysicalPlan } from '../model/physical-plan.ts';
import { packingInForce } from '../model/settled-packing.ts';
import { componentIndexes } from './assemble-plan.ts';
import { createPacking } from './create.ts';
import type { RepackRequest } from './packing.ts';

/*
  From one packing plan of a running topology to the next. Three plans:

    base    what is in force: the stored plan without what never came up, by the physical plan
    target  what is asked for: a repack of the base
    union   what is stored: the target and, marked as retiring, what of the base is not in it.
            Everything of it runs at once until the retiring tasks have ended.

  U1. A task never moves: one that a repack gives another container retires there, and a new task of
      its component takes its place in the other container. So a task id is in one container in all
      plans of a topology, and its process never runs twice.
  U2. A task id is never used again, also not one of an update that never came up: `lastTask`.
  U3. The target keeps what packing.ts promises, but for P5 and P6 where a task is replaced by U1.
      A retiring task keeps the index that it has, so one of the target may have the same.
  U4. The union leaves out nothing of the base. A container of it asks for what it will ask for in
      the target and for what retires in it: both run at once, if need be above the limits of a
      container. One that goes altogether asks for what it asked for. Tasks that stay were
      started with what they had in the base, and get their new share at their next start.
*/

export interface UpdateInput {
  /** As it was submitted. */
  readonly topology: LogicalTopology;
  /** As it is stored. */
  readonly packingPlan: PackingPlan;
  /** The one in force; nothing may be retiring in it. */
  readonly physicalPlan: PhysicalPlan;
  readonly request: RepackRequest;
}

export interface PlannedUpdate {
  readonly base: PackingPlan;
  readonly target: PackingPlan;
  /** To be stored, with an epoch. The stored plan itself when there is nothing to change. */
  readonly union: PackingPlan;
  /** From the base to the target. */
  readonly changes: PackingPlanChanges;
  readonly warnings: readonly string[];
}

/**
 * Plans an update. The same input always gives the same plans.
 *
 * @throws EngineError INVALID_ARGUMENT when the request makes no sense, INVALID_CONFIG when the
 *   limits are too small for it.
 */
export function updatedPlan({
  topology,
  packingPlan,
  physicalPlan,
  request,
}: UpdateInput): PlannedUpdate {
  const isRetiring = physicalPlan.instances.some((instance) => instance.isRetiring === true);
  assert(!isRetiring, 'an update waits until the tasks of the one before it have retired');
  const inForce = packingInForce(packingPlan, physicalPlan);
  const packing = createPacking(topology.config);
  // What never came up had its share in the sizes.
  const sized = inForce === packingPlan ? inForce : packing.resize(topology, inForce);
  const base = { ...sized, lastTask: lastTaskOf(packingPlan) };
  const repacked = packing.repack(topology, base, request);
  const target = withoutMoves(base, repacked.plan);
  const changes = comparePackingPlans(base, target);
  const isSame = inForce === packingPlan && repacked.plan === base;
  const union = isSame ? packingPlan : unionOf(base, target);
  return { base, target, union, changes, warnings: repacked.warnings };
}

/** The highest task id that a plan or one before it has. */
export function lastTaskOf({ containers, lastTask }: PackingPlan): TaskId {
  const ids = containers.flatMap(({ instances }) => instances.map(({ task }) => Number(task)));
  return taskId(ids.reduce((most, id) => Math.max(most, id), lastTask ?? 0));
}

/** U1 */
function withoutMoves(base: PackingPlan, repacked: PackingPlan): PackingPlan {
  let lastTask = lastTaskOf(repacked);
  const { tasksMoved } = comparePackingPlans(base, repacked);
  const successors = new Map(
    tasksMoved.map(({ task }) => [task, (lastTask = taskId(lastTask + 1))] as const),
  );
  const containers = repacked.containers.map((container) => {
    const renamed = container.instances.map((instance) => {
      const task = successors.get(instance.task);
      return task === undefined ? instance : { ...instance, task };
    });
    return { ...container, instances: renamed.toSorted((left, right) => left.task - right.task) };
  });
  const plan = { ...repacked, containers, lastTask };
  return successors.size === 0 ? plan : counted(plan);
}

function counted(plan: PackingPlan): PackingPlan {
  const indexes = componentIndexes(plan.containers.flatMap(({ instances }) => instances));
  const containers = plan.containers.map((container) => ({
    ...container,
    instances: container.instances.map((instance) => ({
      ...instance,
      componentIndex: assertDefined(indexes.get(instance.task), 'each task has been counted'),
    })),
  }));
  return { ...plan, containers };
}

function unionOf(base: PackingPlan, target: PackingPlan): PackingPlan {
  const staying = new Set(
    target.containers.flatMap(({ instances }) => instances.map(({ task }) => task)),
  );
  const containers = new Map<ContainerId, ContainerPlan>(
    target.containers.map((container) => [container.id, container]),
  );
  for (const container of base.containers) {
    const retiring = container.instances
      .filter(({ task }) => !staying.has(task))
      .map((instance): InstancePlan => ({ ...instance, isRetiring: true }));
    if (retiring.length === 0) continue;
    const found = containers.get(container.id);
    const next =
      found === undefined ? { ...container, instances: retiring } : both(found, retiring);
    containers.set(container.id, next);
  }
  return {
    ...target,
    containers: [...containers.values()].toSorted((left, right) => left.id - right.id),
  };
}

/** U4 */
function both({ id, instances, required }: ContainerPlan, retiring: readonly InstancePlan[]) {
  const sum = (key: keyof Resource): number =>
    retiring.reduce((total, { resource }) => total + resource[key], required[key]);
  return {
    id,
    instances: [...instances, ...retiring].toSorted((left, right) => left.task - right.task),
    required: {
      cpuCores: sum('cpuCores'),
      ramBytes: sum('ramBytes'),
      diskBytes: sum('diskBytes'),
    },
  };
}

import { assertDefined } from '../base/assert.ts';
import { userError } from '../base/errors.ts';
import { type ComponentName, containerId, taskId } from '../base/ids.ts';
import type { Component, LogicalTopology } from '../model/logical-topology.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import { Settings } from '../model/settings.ts';
import { assemblePlan, type PlacedContainer, type PlacedTask, placesOf } from './assemble-plan.ts';
import { sharingSizes } from './sharing-sizes.ts';
import { fillEvenly, toFill, trimTo } from './even-fill.ts';
import type { Packed, Packing, RepackRequest } from './packing.ts';
import { type StartedRepack, startRepack } from './repack-changes.ts';
import { checkNumberOfTasks, numberOfTasks } from './task-defaults.ts';

/*
  Heron's round-robin packing: components in descending order of the memory that they ask for, their
  tasks numbered from 1 and dealt to the containers in turn.

  Departs from Heron in three places. It gave small containers the size of the largest one: here,
  without a limit, each task gets the default instead of a share of the largest container, and disk
  is the sum of a container's own tasks plus padding; evenly filled containers get Heron's numbers.
  A repack of Heron's packs from scratch, so that most tasks get other ids and places: here new
  tasks go where fewest are, and what is there stays (P5, P6). Heron's number of containers after a
  repack is kept for plans that grow; one that shrinks loses only containers that become empty.

  R1. The sizes of two containers of a new plan, or of one with a number of containers asked for,
      differ by one task at most.
*/
export const roundRobin: Packing = { pack: packRoundRobin, repack: repackRoundRobin, resize };

/**
 * Deals the tasks of a valid topology to `topology.stmgrs` containers.
 *
 * @throws EngineError INVALID_CONFIG when there are fewer tasks than containers, or when the limits
 *   of a container are too small; the message has the numbers.
 */
export function packRoundRobin(topology: LogicalTopology): Packed {
  return assemblePlan({ id: topology.id }, deal(topology), sharingSizes(topology));
}

/** The tasks of each container. */
function deal(topology: LogicalTopology): readonly PlacedContainer[] {
  const containers = new Settings(topology.config).get('topology.stmgrs');
  const tasks = numberOfTasks(topology);
  checkNumberOfTasks(tasks);
  if (containers > tasks) {
    throw userError(
      'INVALID_CONFIG',
      `topology.stmgrs: ${containers} containers are more than the ${tasks} tasks of the topology`,
    );
  }
  const dealt: PlacedTask[][] = Array.from({ length: containers }, () => []);
  let count = 0;
  for (const { name, parallelism } of byMemory(topology)) {
    for (let left = parallelism; left > 0; left--) {
      const container = dealt[count % containers];
      count += 1;
      const placed = { component: name, task: taskId(count) };
      assertDefined(container, 'the remainder is below the length').push(placed);
    }
  }
  return dealt.map((placed, index) => ({ id: containerId(index + 1), tasks: placed }));
}

function repackRoundRobin(
  topology: LogicalTopology,
  plan: PackingPlan,
  request: RepackRequest,
): Packed {
  const started = startRepack(topology, plan, request);
  if (started === undefined) return { plan, warnings: [] };
  const newTasks = byMemory(topology).flatMap(({ name }) =>
    Array.from({ length: started.missing.get(name) ?? 0 }, () => ({
      component: name,
      task: started.nextTask(),
    })),
  );
  const containers =
    request.containers === undefined
      ? grow(topology, started, newTasks)
      : spread(started, request.containers, newTasks);
  return assemblePlan({ id: plan.id, before: plan }, containers, sharingSizes(topology));
}

function resize(topology: LogicalTopology, plan: PackingPlan): PackingPlan {
  return assemblePlan({ id: plan.id, before: plan }, placesOf(plan), sharingSizes(topology)).plan;
}

/** New tasks go to the emptiest containers, and to new ones as the submitted ratio wants them. */
function grow(
  topology: LogicalTopology,
  { containers, tasks, nextContainer }: StartedRepack,
  newTasks: readonly PlacedTask[],
): readonly PlacedContainer[] {
  const submitted = new Settings(topology.config).get('topology.stmgrs');
  // Heron's number of containers: as many tasks in each as were submitted.
  const wanted = Math.ceil((tasks * submitted) / numberOfTasks(topology));
  const added = Math.max(wanted - containers.length, 0);
  const fill = toFill([...containers, ...Array.from({ length: added }, nextContainer)]);
  fillEvenly(fill, newTasks);
  return fill;
}

/** As many containers as asked for, evenly filled, with as few moves as that takes. */
function spread(
  { containers, tasks, nextContainer }: StartedRepack,
  wanted: number,
  newTasks: readonly PlacedTask[],
): readonly PlacedContainer[] {
  if (!Number.isSafeInteger(wanted) || wanted < 1 || wanted > tasks) {
    throw userError(
      'INVALID_ARGUMENT',
      `the number of containers must be a whole number from 1 to the ${tasks} tasks of the ` +
        `topology, not ${wanted}`,
    );
  }
  const added = Math.max(wanted - containers.length, 0);
  const all = [...containers, ...Array.from({ length: added }, nextContainer)];
  // The fullest ones stay: then the fewest tasks lose their container.
  const ranked = toFill(all).toSorted((left, right) => right.tasks.length - left.tasks.length);
  const kept = ranked.slice(0, wanted);
  const homeless = [...trimTo(kept, tasks), ...ranked.slice(wanted).flatMap((one) => one.tasks)];
  fillEvenly(
    kept.toSorted((left, right) => left.id - right.id),
    [...homeless.toSorted((left, right) => left.task - right.task), ...newTasks],
  );
  return kept;
}

function byMemory({ config, components }: LogicalTopology): readonly Component[] {
  const memory = new Settings(config).get('topology.component.rammap');
  const asked = (component: ComponentName): number => memory?.get(component) ?? 0;
  return components.toSorted((left, right) => asked(right.name) - asked(left.name));
}

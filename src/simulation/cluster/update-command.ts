import { delay } from '../../base/clock.ts';
import { environmentError, hasCode } from '../../base/errors.ts';
import { isComingIntoForce } from '../../model/adopted-packing.ts';
import type { LogicalTopology } from '../../model/logical-topology.ts';
import { type PackingPlan, parallelismOf } from '../../model/packing-plan.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import { settledPacking } from '../../model/settled-packing.ts';
import type { RepackRequest } from '../../packing/packing.ts';
import { updatedPlan } from '../../packing/update-plan.ts';
import { paths } from '../../state-manager/paths.ts';
import { decodePackingPlan, encodePackingPlan } from '../../wire/packing-plan.ts';
import { decodePhysicalPlan } from '../../wire/physical-plan.ts';
import type { CommandTools } from './command-process.ts';

/*
  What `heron update` does up to its one write, with the plans that it makes. Nobody waits for what
  comes of it: other commands may come in between.

  W1. The stored plan is replaced only while it is the one that was read.
  W2. While tasks of an earlier update retire, another one waits.
*/

/** As long as the drain of the update before may take, and some more. */
const RETIRED_WITHIN_MS = 90_000;
const LOOK_MS = 200;

/**
 * Stores the plan of an update. Resolves with what is stored then; where the stored plan is as it
 * is asked for, with that.
 *
 * @throws EngineError START_TIMEOUT or TOPOLOGY_NOT_FOUND, or what the packing
 *   says of the request.
 */
export async function storeUpdate(
  topology: LogicalTopology,
  request: RepackRequest,
  { environment, stateManager }: Pick<CommandTools, 'environment' | 'stateManager'>,
): Promise<PackingPlan> {
  const { clock } = environment;
  const path = paths.packingPlan(topology.name);
  const deadlineMs = clock.now() + RETIRED_WITHIN_MS;
  for (;;) {
    const bytes = await stateManager.read(path);
    const physicalBytes = await stateManager.read(paths.physicalPlan(topology.name));
    if (bytes === undefined) throw environmentError('TOPOLOGY_NOT_FOUND', 'it has ended');
    const packingPlan = decodePackingPlan(bytes);
    const physicalPlan = physicalBytes && decodePhysicalPlan(physicalBytes);
    if (hasAsked(settledPacking(packingPlan), request)) return packingPlan;
    // A person would be told to try again when it is up.
    const isSteady =
      physicalPlan !== undefined &&
      !isRetiringIn(packingPlan, physicalPlan) &&
      !isComingIntoForce(packingPlan, physicalPlan);
    if (isSteady) {
      const planned = updatedPlan({ topology, packingPlan, physicalPlan, request });
      const epoch = await stateManager.nextEpoch(topology.id);
      const next = { ...planned.union, epoch, updatedAtMs: clock.wallNow() };
      try {
        await stateManager.replace(path, bytes, encodePackingPlan(next));
        // Otherwise the update before has come into force in this moment, and nobody knew (W2).
        if (!(await isRetiring(topology, stateManager))) return next;
      } catch (error) {
        if (!hasCode(error, 'STATE_CONFLICT')) throw error; // W1: read it again.
        // Taking an epoch makes the counter anew of a topology that ended in this moment.
        const isThere = (await stateManager.read(path)) !== undefined;
        if (!isThere) await stateManager.delete(paths.epoch(topology.id));
      }
    }
    if (clock.now() > deadlineMs) {
      throw environmentError(
        'START_TIMEOUT',
        'it is not up, or tasks of an earlier update still retire',
      );
    }
    await delay(clock, LOOK_MS);
  }
}

async function isRetiring(
  { name }: LogicalTopology,
  stateManager: CommandTools['stateManager'],
): Promise<boolean> {
  const bytes = await stateManager.read(paths.physicalPlan(name));
  return bytes !== undefined && isRetiringPlan(decodePhysicalPlan(bytes));
}

function isRetiringPlan({ instances }: PhysicalPlan): boolean {
  return instances.some((instance) => instance.isRetiring === true);
}

/** Whether a plan already has all that a request names. */
function hasAsked(plan: PackingPlan, { parallelism, containers }: RepackRequest): boolean {
  const tasks = parallelismOf(plan.containers.flatMap(({ instances }) => instances));
  if (containers !== undefined && containers !== plan.containers.length) return false;
  return [...(parallelism ?? [])].every(([name, wanted]) => tasks.get(name) === wanted);
}

/** W2: also while what has retired still has its processes. */
function isRetiringIn({ containers }: PackingPlan, plan: PhysicalPlan): boolean {
  const inForce = new Set(plan.instances.map(({ task }) => task));
  return (
    isRetiringPlan(plan) ||
    containers.some((container) =>
      container.instances.some((one) => one.isRetiring === true && !inForce.has(one.task)),
    )
  );
}

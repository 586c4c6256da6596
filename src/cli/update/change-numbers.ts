import { hasCode, userError } from '../../base/errors.ts';
import { isComingIntoForce } from '../../model/adopted-packing.ts';
import type { LogicalTopology } from '../../model/logical-topology.ts';
import { comparePackingPlans, type PackingPlanChanges } from '../../model/compare-packing-plans.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import { settledPacking } from '../../model/settled-packing.ts';
import type { RepackRequest } from '../../packing/packing.ts';
import { paths } from '../../state-manager/paths.ts';
import { decodePackingPlan, encodePackingPlan } from '../../wire/packing-plan.ts';
import { decodePhysicalPlan } from '../../wire/physical-plan.ts';
import { AdvisedError } from '../advised-error.ts';
import type { CommandContext } from '../command-context.ts';
import { withCommandLock } from '../command-lock.ts';
import { type FoundTopology } from '../find-topology.ts';
import { placeText } from '../place.ts';
import { lockOf } from '../submission.ts';
import { watchWhileRunning } from '../watch-while-running.ts';
import { decideUpdate, unlikelyChange } from './decide-update.ts';
import { type SizeChange, sizeChanges } from '../../model/plan-sizes.ts';

/*
  The one write that an update of numbers consists of, after these steps:

    lock   no other command works on the topology
    read   the stored plan and the one in force
    pack   decide what the request means (decide-update.ts), check it
    write  the new plan in place of the one that was read; another write in between means: again.
           The topology master writes before it puts a plan in force (model/adopted-packing.ts)

  While an earlier update comes into force, or its tasks retire, the lock is given back and taken
  again afterwards, so that a kill does not have to wait.
*/

/** What an update has stored, or has found stored. */
export interface StoredNumbers {
  /** Undefined when everything is as it was asked for. */
  readonly packingPlan: PackingPlan | undefined;
  readonly isStored: boolean;
  /** From what is in force. */
  readonly changes: readonly SizeChange[];
  readonly tasks: Pick<PackingPlanChanges, 'tasksAdded' | 'tasksRemoved'>;
  readonly givenUp: readonly SizeChange[];
  readonly warnings: readonly string[];
}

export interface NumbersRequest {
  readonly found: FoundTopology;
  readonly topology: LogicalTopology;
  readonly request: RepackRequest;
  /** Also a change that looks like a slip of the keyboard. */
  readonly force: boolean;
  /** By the clock: tasks of an earlier update should have retired by then. */
  readonly deadlineMs: number;
}

/** What is stored of a running topology's plans. */
export interface StoredPlans {
  readonly bytes: Uint8Array;
  readonly packingPlan: PackingPlan;
  readonly physicalPlan: PhysicalPlan;
}

/**
 * @throws EngineError INVALID_ARGUMENT or INVALID_CONFIG when it cannot be done, START_TIMEOUT when
 *   the tasks of an earlier update do not retire
 */
export async function storeNumbers(
  wanted: NumbersRequest,
  context: CommandContext,
): Promise<StoredNumbers> {
  const { found, topology } = wanted;
  const lock = { ...lockOf(found.cluster, context, topology.name), command: 'heron update' };
  for (;;) {
    const attempt = await withCommandLock(lock, () => attemptStore(wanted, context));
    if (attempt === 'conflict') continue;
    if (attempt === 'adopted') await untilInForce(wanted, context);
    else if (attempt === 'retiring') await untilRetired(wanted, context);
    else return attempt;
  }
}

async function attemptStore(
  { found, topology, request, force }: NumbersRequest,
  { clock, afterStep }: CommandContext,
): Promise<StoredNumbers | 'adopted' | 'retiring' | 'conflict'> {
  const { stateManager } = found.cluster;
  const { bytes, packingPlan, physicalPlan } = await readPlans(found, topology);
  const decision = decideUpdate({ topology, packingPlan, physicalPlan, request });
  if (decision.kind === 'done') return nothingStored(packingPlan, packingPlan);
  if (decision.kind === 'join') {
    return { ...nothingStored(decision.base, decision.target), packingPlan };
  }
  if (isComingIntoForce(packingPlan, physicalPlan)) return 'adopted';
  const { planned, givenUp } = decision;
  const changes = sizeChanges(planned.base, planned.target);
  const slip = force ? undefined : unlikelyChange(topology, changes);
  if (slip !== undefined) throw needsForce(slip);
  if (decision.kind === 'retiring') return 'retiring';
  const epoch = await stateManager.nextEpoch(topology.id);
  const next = { ...planned.union, epoch, updatedAtMs: clock.wallNow() };
  afterStep('pack');
  try {
    await stateManager.replace(paths.packingPlan(topology.name), bytes, encodePackingPlan(next));
  } catch (error) {
    if (!hasCode(error, 'STATE_CONFLICT')) throw error;
    await leaveNothing(found, topology);
    return 'conflict';
  }
  afterStep('packing-plan');
  if (await isAnotherRetiring(found, topology, next)) return 'retiring';
  const { changes: tasks, warnings } = planned;
  return { packingPlan: next, isStored: true, changes, tasks, givenUp, warnings };
}

/** A topology that ended in this moment had its counter removed before an epoch was taken. */
async function leaveNothing({ cluster }: FoundTopology, topology: LogicalTopology): Promise<void> {
  const { stateManager } = cluster;
  const isThere = (await stateManager.read(paths.packingPlan(topology.name))) !== undefined;
  if (!isThere) await stateManager.delete(paths.epoch(topology.id));
}

/**
 * The update before may have come into force in the moment between reading and writing. What it
 * takes away retires all the same, which the topology master marks in the plan that was stored: it
 * is packed again when that is over.
 */
async function isAnotherRetiring(
  found: FoundTopology,
  topology: LogicalTopology,
  stored: PackingPlan,
): Promise<boolean> {
  const { physicalPlan } = await readPlans(found, topology);
  // The plan that was stored may be in force by now, and what retires by it is as it should be.
  const own = new Set(
    stored.containers.flatMap(({ instances }) =>
      instances.filter(({ isRetiring }) => isRetiring === true).map(({ task }) => task),
    ),
  );
  return physicalPlan.instances.some(
    ({ isRetiring, task }) => isRetiring === true && !own.has(task),
  );
}

function nothingStored(base: PackingPlan, target: PackingPlan): StoredNumbers {
  return {
    packingPlan: undefined,
    isStored: false,
    changes: sizeChanges(base, target),
    tasks: comparePackingPlans(base, target),
    givenUp: [],
    warnings: [],
  };
}

/**
 * Reads what an update begins with.
 *
 * @throws EngineError TOPOLOGY_NOT_FOUND when the topology has ended since it was found,
 *   TOPOLOGY_NOT_READY when it is not up, or is coming to its end
 */
export async function readPlans(
  { cluster, place }: FoundTopology,
  { name, id }: LogicalTopology,
): Promise<StoredPlans> {
  const { stateManager } = cluster;
  const bytes = await stateManager.read(paths.packingPlan(name));
  const planBytes = await stateManager.read(paths.physicalPlan(name));
  if (bytes === undefined) {
    throw userError('TOPOLOGY_NOT_FOUND', `${name} has ended meanwhile`);
  }
  const physicalPlan = planBytes && decodePhysicalPlan(planBytes);
  const status = `'heron status ${placeText(place)} ${name}'`;
  if (physicalPlan?.topology.id !== id) {
    throw new AdvisedError('TOPOLOGY_NOT_READY', `${name} has not come up yet`, {
      domain: 'environment',
      retryable: true,
      next: `try again when it runs; ${status} says what is missing`,
    });
  }
  if (physicalPlan.topology.state === 'KILLED') {
    throw new AdvisedError('TOPOLOGY_NOT_READY', `${name} is being drained`, {
      domain: 'user',
      next: `it ends when all is processed; ${status} says how far it is`,
    });
  }
  return { bytes, packingPlan: decodePackingPlan(bytes), physicalPlan };
}

function needsForce(slip: string): AdvisedError {
  return new AdvisedError('INVALID_ARGUMENT', slip, {
    domain: 'user',
    next: 'add --force if it is meant; --dry-run shows what would become of the plan',
  });
}

async function untilRetired(
  { found, topology, deadlineMs }: NumbersRequest,
  { clock, output }: CommandContext,
): Promise<void> {
  const { stateManager } = found.cluster;
  const { name, id } = topology;
  output.say('waiting for the end of the update before this one: its last tasks are retiring');
  const limitMs = deadlineMs - clock.now();
  const watched = { stateManager, clock, path: paths.packingPlan(name), limitMs, name, id };
  const isOver = await watchWhileRunning(watched, (bytes) => {
    const plan = bytes && decodePackingPlan(bytes);
    return plan !== undefined && settledPacking(plan) === plan;
  });
  if (isOver) return;
  throw new AdvisedError('START_TIMEOUT', `tasks of ${name} still retire by an earlier update`, {
    domain: 'environment',
    next: `'heron status ${placeText(found.place)} ${name}' says which; run the command again`,
  });
}

/** The update before this one is being put in force: what is in force is known in a moment. */
async function untilInForce(
  { found, topology, deadlineMs }: NumbersRequest,
  { clock }: CommandContext,
): Promise<void> {
  const { stateManager } = found.cluster;
  const { name, id } = topology;
  const { packingPlan } = await readPlans(found, topology);
  const limitMs = deadlineMs - clock.now();
  const watched = { stateManager, clock, path: paths.physicalPlan(name), limitMs, name, id };
  const isOver = await watchWhileRunning(
    watched,
    (bytes) => bytes !== undefined && !isComingIntoForce(packingPlan, decodePhysicalPlan(bytes)),
  );
  if (isOver) return;
  const status = `'heron status ${placeText(found.place)} ${name}'`;
  throw new AdvisedError('START_TIMEOUT', `an earlier update of ${name} is not in force yet`, {
    domain: 'environment',
    next: `${status} says what is missing; run the command again`,
  });
}

/** For people: the command that asks for the numbers before these changes. */
export function undoCommand(
  { place }: FoundTopology,
  { name }: LogicalTopology,
  changes: readonly SizeChange[],
): string | undefined {
  const components = changes.filter(({ component }) => component !== undefined);
  const options =
    components.length > 0
      ? components.map(({ component, from }) => `--component-parallelism ${component}:${from}`)
      : changes.map(({ from }) => `--container-number ${from}`);
  if (options.length === 0) return undefined;
  return ['heron update', placeText(place), name, ...options].join(' ');
}

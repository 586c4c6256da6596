import { environmentError, hasCode } from '../../base/errors.ts';
import type { ProcessReport } from '../../model/container-report.ts';
import type { LogicalTopology } from '../../model/logical-topology.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';
import { settledPacking } from '../../model/settled-packing.ts';
import { paths } from '../../state-manager/paths.ts';
import { decodePackingPlan } from '../../wire/packing-plan.ts';
import { AdvisedError, Interrupted } from '../advised-error.ts';
import type { Cluster } from '../cluster.ts';
import type { CommandContext } from '../command-context.ts';
import { whileGuarded } from '../guard-scheduler.ts';
import { type Place, placeText } from '../place.ts';
import { expectedProcesses, listed } from '../../model/expected-processes.ts';
import { missingOf } from '../start-decision.ts';
import { type LiveTopology, TopologyWatch } from '../topology-watch.ts';
import {
  isSamePlacing,
  leftOver,
  progressText,
  updateProgress,
} from '../../model/update-progress.ts';

/*
  The wait for an update whose plan is stored. It changes nothing: everything behind that plan goes
  on whether somebody waits or not.
*/

export interface UpdatingTopology {
  readonly place: Place;
  readonly topology: LogicalTopology;
  /** What was stored, or found. */
  readonly packingPlan: PackingPlan;
  /** By the clock. */
  readonly deadlineMs: number;
  /** What the deadline was made of, for people. */
  readonly timeoutSeconds: number;
  /** The command that gives the update up, as long as it is not in force, if there is one. */
  readonly undo: string | undefined;
}

type UpdateEnd =
  | { readonly kind: 'done' | 'gone' | 'replaced' | 'interrupted' }
  | { readonly kind: 'failed'; readonly process: ProcessReport }
  | { readonly kind: 'late'; readonly missing: string };

/** Between two lines about what is missing: each process that comes up changes that. */
const LINE_PAUSE_MS = 500;

/**
 * Waits until a plan is in force, nothing retires, and every process is up with its component open.
 *
 * @throws EngineError START_TIMEOUT, PROCESS_FAILED when a process has used up its starts,
 *   STATE_CONFLICT when another update took the place of this one, or TOPOLOGY_NOT_FOUND
 */
export async function awaitUpdate(
  updating: UpdatingTopology,
  cluster: Cluster,
  context: CommandContext,
): Promise<void> {
  const { place, topology, timeoutSeconds, undo } = updating;
  const { name } = topology;
  const end = await whileGuarded(updating, cluster, context, () =>
    firstEnd(updating, cluster, context),
  );
  const status = `'heron status ${placeText(place)} ${name}'`;
  const giveUp = undo === undefined ? '' : `; '${undo}' gives it up`;
  switch (end.kind) {
    case 'done':
      return;
    case 'gone':
      throw environmentError('TOPOLOGY_NOT_FOUND', `${name} ended while it was updated`);
    case 'replaced':
      throw new AdvisedError('STATE_CONFLICT', `another update of ${name} has replaced this one`, {
        domain: 'user',
        next: `${status} says how far it is`,
      });
    case 'interrupted':
      throw new Interrupted(`${name} is being updated`, `it goes on; ${status} says how far`);
    case 'failed':
      throw new AdvisedError('PROCESS_FAILED', `${end.process.name} died too often`, {
        domain: 'environment',
        details: end.process.lastExit?.lastLines ?? [],
        next: `${status} says more${giveUp}`,
      });
    case 'late': {
      const late = `${name} was not updated within ${timeoutSeconds} s`;
      throw new AdvisedError('START_TIMEOUT', `${late}; ${end.missing}`, {
        domain: 'environment',
        next: `it goes on; ${status} says how far${giveUp}`,
      });
    }
  }
}

function firstEnd(
  updating: UpdatingTopology,
  { stateManager }: Cluster,
  context: CommandContext,
): Promise<UpdateEnd> {
  const { topology, packingPlan, deadlineMs } = updating;
  const { clock, interruption, output } = context;
  return new Promise((resolve) => {
    let stored = packingPlan;
    let missing = 'missing: the plan in force';
    let said = '';
    const settle = (end: UpdateEnd): void => {
      // The first calls of the watches may come before all of them are made.
      clock.soon(() => {
        watch[Symbol.dispose]();
        plans.close();
      });
      limit.cancel();
      lines.cancel();
      interruption.removeEventListener('abort', onInterruption);
      resolve(end);
    };
    const consider = (): void => {
      const decision = decideEnd(topology, packingPlan, stored, watch.now);
      if (typeof decision !== 'string') return settle(decision);
      missing = decision;
    };
    const onInterruption = (): void => settle({ kind: 'interrupted' });
    const limit = clock.after(Math.max(deadlineMs - clock.now(), 0), () =>
      settle({ kind: 'late', missing }),
    );
    const lines = clock.every(LINE_PAUSE_MS, () => {
      if (missing !== said) output.say(missing);
      said = missing;
    });
    const watch = new TopologyWatch({
      stateManager,
      name: topology.name,
      packingPlan,
      onChange: consider,
    });
    const plans = stateManager.watch(paths.packingPlan(topology.name), (bytes) => {
      const plan = bytes && unlessDamaged(bytes);
      if (plan !== undefined && (plan.epoch ?? 0) >= (stored.epoch ?? 0)) stored = plan;
      consider();
    });
    interruption.addEventListener('abort', onInterruption);
    if (interruption.aborted) onInterruption();
  });
}

/** How the wait ends, or what is waited for. */
function decideEnd(
  topology: LogicalTopology,
  own: PackingPlan,
  stored: PackingPlan,
  { exists, completion, physicalPlan, reports }: LiveTopology,
): UpdateEnd | string {
  if (!exists || completion?.topologyId === topology.id) return { kind: 'gone' };
  const target = settledPacking(own);
  if (!isSamePlacing(settledPacking(stored), target)) return { kind: 'replaced' };
  const names = new Set(expectedProcesses(target));
  const failed = reports
    .flatMap(({ processes }) => processes)
    .find((process) => process.state === 'failed' && names.has(process.name));
  if (failed !== undefined) return { kind: 'failed', process: failed };
  if (physicalPlan === undefined) return 'missing: the plan in force';
  const progress = updateProgress({ packingPlan: stored, physicalPlan, reports });
  if (progress !== undefined) return progressText(progress);
  const closed = missingOf({ topology, packingPlan: target, physicalPlan, reports });
  if (closed !== undefined) return `missing: ${closed}`;
  const left = leftOver(target, reports);
  return left.length === 0 ? { kind: 'done' } : `ending: ${listed(left)}`;
}

function unlessDamaged(bytes: Uint8Array): PackingPlan | undefined {
  try {
    return decodePackingPlan(bytes);
  } catch (error) {
    if (hasCode(error, 'STATE_CORRUPTED')) return undefined;
    throw error;
  }
}

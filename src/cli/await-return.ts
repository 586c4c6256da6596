import { environmentError } from '../base/errors.ts';
import type { ContainerReport } from '../model/container-report.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import { AdvisedError, Interrupted } from './advised-error.ts';
import type { Cluster } from './cluster.ts';
import type { CommandContext } from './command-context.ts';
import { whileGuarded } from './guard-scheduler.ts';
import { type Place, placeText } from './place.ts';
import { expectedProcesses } from '../model/expected-processes.ts';
import { missingOf } from './start-decision.ts';
import { TopologyWatch } from './topology-watch.ts';

export interface ReturningTopology {
  readonly place: Place;
  readonly topology: LogicalTopology;
  /** What is to run again, in all or in part. */
  readonly packingPlan: PackingPlan;
  /** For people: what of the restarted processes is still what it was before, if anything. */
  readonly unreplaced: (reports: readonly ContainerReport[]) => string | undefined;
  /** By the clock. */
  readonly deadlineMs: number;
  /** What the deadline was made of, for people. */
  readonly timeoutSeconds: number;
}

type Return =
  | { readonly kind: 'running' | 'gone' | 'interrupted' }
  | { readonly kind: 'failed'; readonly process: string; readonly lines: readonly string[] }
  | { readonly kind: 'late'; readonly missing: string };

/**
 * Waits until a topology of which something was restarted is whole again.
 *
 * @throws EngineError START_TIMEOUT, PROCESS_FAILED when a process has used up its starts, or
 *   TOPOLOGY_NOT_FOUND when the topology ended meanwhile.
 */
export async function awaitReturn(
  returning: ReturningTopology,
  cluster: Cluster,
  context: CommandContext,
): Promise<void> {
  const { place, topology, timeoutSeconds } = returning;
  const { name } = topology;
  const end = await whileGuarded(returning, cluster, context, () =>
    firstEnd(returning, cluster, context),
  );
  const status = `'heron status ${placeText(place)} ${name}'`;
  switch (end.kind) {
    case 'running':
      return;
    case 'gone':
      throw environmentError('TOPOLOGY_NOT_FOUND', `${name} ended while it was restarted`);
    case 'interrupted':
      throw new Interrupted(`${name} is being restarted`, `it goes on; ${status} says how far`);
    case 'failed':
      throw new AdvisedError('PROCESS_FAILED', `${end.process} died too often`, {
        domain: 'environment',
        details: end.lines,
        next: `${status} says more; another restart gives it new attempts`,
      });
    case 'late': {
      const late = `${name} was not whole again within ${timeoutSeconds} s`;
      throw new AdvisedError('START_TIMEOUT', `${late}; missing: ${end.missing}`, {
        domain: 'environment',
        next: `it goes on; ${status} says how far`,
      });
    }
  }
}

function firstEnd(
  { topology, packingPlan, unreplaced, deadlineMs }: ReturningTopology,
  { stateManager }: Cluster,
  { clock, interruption }: CommandContext,
): Promise<Return> {
  const names = new Set(expectedProcesses(packingPlan));
  return new Promise((resolve) => {
    let missing: string | undefined = 'its processes';
    const settle = (end: Return): void => {
      // The first calls of the watches may come before all of them are made.
      clock.soon(() => watch[Symbol.dispose]());
      limit.cancel();
      interruption.removeEventListener('abort', onInterruption);
      resolve(end);
    };
    const consider = (): void => {
      const { exists, completion, reports, physicalPlan } = watch.now;
      if (!exists || completion?.topologyId === topology.id) return settle({ kind: 'gone' });
      missing = unreplaced(reports);
      const failed = reports
        .flatMap(({ processes }) => processes)
        .find((process) => process.state === 'failed' && names.has(process.name));
      if (failed !== undefined && missing === undefined) {
        const lines = failed.lastExit?.lastLines ?? [];
        return settle({ kind: 'failed', process: failed.name, lines });
      }
      missing ??= missingOf({ topology, packingPlan, physicalPlan, reports });
      if (missing === undefined) settle({ kind: 'running' });
    };
    const onInterruption = (): void => settle({ kind: 'interrupted' });
    const limit = clock.after(Math.max(deadlineMs - clock.now(), 0), () =>
      settle({ kind: 'late', missing: missing ?? 'nothing' }),
    );
    const watch = new TopologyWatch({
      stateManager,
      name: topology.name,
      packingPlan,
      onChange: consider,
    });
    interruption.addEventListener('abort', onInterruption);
    if (interruption.aborted) onInterruption();
  });
}

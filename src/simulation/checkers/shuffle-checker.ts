import type { TaskId } from '../../base/ids.ts';
import type { Checker, FinishedRun } from './checker.ts';
import { deliveries, knownTuple } from './deliveries.ts';
import { ExpectedRouting } from './expected-routing.ts';
import { Places } from './places.ts';
import { Problems } from './problems.ts';

/** How many tuples of one stream manager each task of a reader got. */
interface Shares {
  readonly from: string;
  readonly bolt: string;
  /** Those that take turns, ascending. */
  readonly tasks: readonly TaskId[];
  readonly counts: Map<TaskId, number>;
}

const SHUFFLES: ReadonlySet<string> = new Set(['shuffle', 'none', 'local-or-shuffle']);

/**
 * A shuffle gives every task its turn, a local one every task of the container: of what one stream
 * manager sends, none of them gets more than one tuple more than another. Holds where nothing began
 * anew and nothing was dropped, so it is checked in runs without faults, commands and ends of
 * processes only.
 */
export class ShuffleChecker implements Checker {
  readonly name = 'shuffles are even';

  finish(run: FinishedRun): readonly string[] {
    if (!isUndisturbed(run)) return [];
    const problems = new Problems();
    for (const { from, bolt, tasks, counts } of sharesOf(run)) {
      const shares = tasks.map((task) => counts.get(task) ?? 0);
      if (Math.max(...shares) - Math.min(...shares) <= 1) continue;
      const turns = tasks.map((task, index) => `${shares[index]} to task ${task}`);
      problems.add(`${from} → ${bolt}: ${turns.join(', ')}`);
    }
    return problems.list();
  }
}

function isUndisturbed(run: FinishedRun): boolean {
  const { workload, explanation, outcome, ends, takenDownFromMs, commands } = run;
  const untilMs = takenDownFromMs ?? Number.POSITIVE_INFINITY;
  const hasEnds = ends.some(({ atMs }) => atMs < untilMs);
  const isDropping = workload.plan.config['topology.droptuples.upon.backpressure'] === 'true';
  if (isDropping || commands.length > 0) return false;
  return outcome === 'completed' && !explanation.hasFaults && !hasEnds;
}

function sharesOf({ workload, packing }: FinishedRun): Iterable<Shares> {
  const { ledger } = workload;
  const routing = new ExpectedRouting(workload.plan, packing);
  const places = new Places(packing);
  const all = new Map<string, Shares>();
  for (const { tuple: number, task } of deliveries(ledger)) {
    const tuple = knownTuple(ledger, number);
    if (tuple === undefined) continue;
    const { component, stream } = tuple;
    const reader = routing
      .readersOf(component, stream)
      .find(({ bolt }) => bolt === routing.componentOf(task));
    if (reader === undefined || !SHUFFLES.has(reader.grouping.kind)) continue;
    const from = `${component} ${stream} by ${places.of(tuple.task).streamManager}`;
    const { bolt } = reader;
    const tasks = routing.allowedTasks(reader, tuple);
    const shares = all.get(`${from} ${bolt}`) ?? { from, bolt, tasks, counts: new Map() };
    shares.counts.set(task, (shares.counts.get(task) ?? 0) + 1);
    all.set(`${from} ${bolt}`, shares);
  }
  return all.values();
}

import type { TaskId } from '../../base/ids.ts';
import type { Checker, FinishedRun } from './checker.ts';
import { deliveries, knownTuple } from './deliveries.ts';
import { ExpectedRouting, type Reader } from './expected-routing.ts';
import { Places } from './places.ts';
import { Problems } from './problems.ts';

/** How many tuples of one stream manager each task of a reader got. */
interface Shares {
  readonly from: string;
  readonly reader: Reader;
  readonly counts: Map<TaskId, number>;
}

/**
 * A shuffle gives every task its turn: of what one stream manager sends, no task of a reader gets
 * more than one tuple more than another. Holds where nothing began anew, so it is checked in runs
 * without faults, commands and ends of processes only.
 */
export class ShuffleChecker implements Checker {
  readonly name = 'shuffles are even';

  finish(run: FinishedRun): readonly string[] {
    if (!isUndisturbed(run)) return [];
    const problems = new Problems();
    for (const { from, reader, counts } of sharesOf(run)) {
      const shares = reader.tasks.map((task) => counts.get(task) ?? 0);
      if (Math.max(...shares) - Math.min(...shares) <= 1) continue;
      const tasks = reader.tasks.map((task, index) => `${shares[index]} to task ${task}`);
      problems.add(`${from} → ${reader.bolt}: ${tasks.join(', ')}`);
    }
    return problems.list();
  }
}

function isUndisturbed({ explanation, outcome, ends, takenDownFromMs, commands }: FinishedRun) {
  const untilMs = takenDownFromMs ?? Number.POSITIVE_INFINITY;
  const hasEnds = ends.some(({ atMs }) => atMs < untilMs);
  return outcome === 'completed' && !explanation.hasFaults && commands.length === 0 && !hasEnds;
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
    if (reader === undefined || reader.grouping.kind !== 'shuffle') continue;
    const from = `${component} ${stream} by ${places.of(tuple.task).streamManager}`;
    const shares = all.get(`${from} ${reader.bolt}`) ?? { from, reader, counts: new Map() };
    shares.counts.set(task, (shares.counts.get(task) ?? 0) + 1);
    all.set(`${from} ${reader.bolt}`, shares);
  }
  return all.values();
}

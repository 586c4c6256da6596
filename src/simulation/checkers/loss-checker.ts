import type { TaskId } from '../../base/ids.ts';
import type { Ledger } from '../workload/ledger.ts';
import { isAtLeastOnce } from '../workload/workload-description.ts';
import type { Checker, FinishedRun } from './checker.ts';
import {
  deliveries,
  deliveriesByTuple,
  described,
  emittedTuples,
  knownTuple,
  type KnownTuple,
} from './deliveries.ts';
import { type ExpectedRouting, isForEach, type Reader } from './expected-routing.ts';
import { LossCauses } from './loss-causes.ts';
import { Problems } from './problems.ts';
import { fewestMissing, keyBy, readerBy, RoutingTimes } from './routing-times.ts';

/**
 * Nothing is lost without a cause: in a run that came to its end every emitted tuple was executed
 * by as many tasks as its groupings say, except where loss-causes.ts knows why not. Without faults
 * the counts are exact.
 *
 * At least once nothing is said of tuples that descend from a message with an id: one may be lost
 * as long as the message is not acked, which another checker sees to.
 *
 * A killed topology, and one that ran into a limit, may have had tuples under way: nothing is said
 * of those.
 */
export class LossChecker implements Checker {
  readonly name = 'nothing lost without a cause';

  finish(run: FinishedRun): readonly string[] {
    if (run.outcome !== 'completed') return [];
    const { ledger, plan } = run.workload;
    const times = new RoutingTimes(run);
    const owners = ownersOfKeys(run, times);
    const causes = new LossCauses(run);
    const byTuple = deliveriesByTuple(ledger);
    const problems = new Problems();
    const tracked = isAtLeastOnce(plan) ? trackedTuples(ledger) : new Set<number>();
    for (const tuple of emittedTuples(ledger)) {
      if (tracked.has(tuple.tuple)) continue;
      const got = new Set(byTuple.get(tuple.tuple)?.map(({ task }) => task));
      const isExplained = (candidates: readonly TaskId[]): boolean =>
        candidates.some((task) => causes.explains(tuple, task));
      for (const reader of times.all.readersOf(tuple.component, tuple.stream)) {
        const alternatives = times.alternativesFor(reader, tuple, run.endedAtMs);
        const missing = fewestMissing(alternatives, (routing) =>
          missingCopies(reader, tuple, { times, routing, got, owners }).filter(
            (candidates) => !isExplained(candidates),
          ),
        );
        for (const candidates of missing) {
          const who = candidates.length === 1 ? 'task' : 'any of tasks';
          const tasks = candidates.join(', ');
          problems.add(`${described(tuple)} never came to ${who} ${tasks} of ${reader.bolt}`);
        }
      }
    }
    return problems.list();
  }
}

/** Numbers ascend with time, so a child comes after its parents. */
function trackedTuples({ trees }: Ledger): ReadonlySet<number> {
  const tracked = new Set(trees.messages.map(({ tuple }) => tuple));
  const children = [...trees.anchors].toSorted(([one], [other]) => one - other);
  for (const [child, parents] of children) {
    if (parents.some((parent) => tracked.has(parent))) tracked.add(child);
  }
  return tracked;
}

/** The task of each key, as far as any tuple has shown it. */
function ownersOfKeys(run: FinishedRun, times: RoutingTimes): ReadonlyMap<string, TaskId> {
  const { ledger } = run.workload;
  const owners = new Map<string, TaskId>();
  for (const { tuple: number, task, atMs } of deliveries(ledger)) {
    const tuple = knownTuple(ledger, number);
    if (tuple === undefined) continue;
    const bolt = times.all.componentOf(task);
    for (const reader of times.all.readersOf(tuple.component, tuple.stream)) {
      const key = reader.bolt === bolt ? keyBy(times, reader, tuple, atMs) : undefined;
      if (key !== undefined) owners.set(key, task);
    }
  }
  return owners;
}

interface Known {
  readonly times: RoutingTimes;
  /** The plan to judge by. */
  readonly routing: ExpectedRouting;
  /** Who got the tuple. */
  readonly got: ReadonlySet<TaskId>;
  readonly owners: ReadonlyMap<string, TaskId>;
}

/**
 * The copies of a tuple that never arrived: for each the tasks of which one should have got it. It
 * is one task where the grouping says which; otherwise the engine had the choice.
 */
function missingCopies(
  { bolt, grouping, tasks: everyTask }: Reader,
  tuple: KnownTuple,
  known: Known,
): readonly (readonly TaskId[])[] {
  const reader = readerBy(known.routing, tuple, bolt);
  const allowed = known.routing.allowedTasks(reader, tuple);
  const absent = allowed.filter((task) => !known.got.has(task));
  if (isForEach(reader)) return absent.map((task) => [task]);
  const hasCome = everyTask.some((task) => known.got.has(task));
  if (hasCome || absent.length === 0) return [];
  const all = { bolt, grouping, tasks: everyTask };
  const key = keyBy(known.times, all, tuple, Number.POSITIVE_INFINITY);
  const owner = key === undefined ? undefined : known.owners.get(key);
  return [owner === undefined ? absent : [owner]];
}

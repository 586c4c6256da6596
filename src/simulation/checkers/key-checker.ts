import type { TaskId } from '../../base/ids.ts';
import type { Checker, FinishedRun } from './checker.ts';
import { deliveries, described, knownTuple } from './deliveries.ts';
import { Problems } from './problems.ts';
import { keyBy, RoutingTimes } from './routing-times.ts';

/**
 * Tuples with the same key go to the same task of a bolt, from the first to the last: over all
 * plans with the same tasks of that bolt, restarts and sources of the stream.
 */
export class KeyChecker implements Checker {
  readonly name = 'same key, same task';

  finish(run: FinishedRun): readonly string[] {
    const { ledger } = run.workload;
    const times = new RoutingTimes(run);
    const routing = times.all;
    const owners = new Map<string, { readonly task: TaskId; readonly tuple: number }>();
    const problems = new Problems();
    for (const { tuple: number, task, atMs } of deliveries(ledger)) {
      const tuple = knownTuple(ledger, number);
      if (tuple === undefined) continue;
      const bolt = routing.componentOf(task);
      const reader = routing
        .readersOf(tuple.component, tuple.stream)
        .find((candidate) => candidate.bolt === bolt);
      const key = reader && keyBy(times, reader, tuple, atMs);
      if (key === undefined) continue;
      const owner = owners.get(key);
      if (owner === undefined) owners.set(key, { task, tuple: number });
      else if (owner.task !== task) {
        const before = `tuple ${owner.tuple} with the same key to task ${owner.task}`;
        problems.add(`${described(tuple)} came to task ${task}, ${before} (${key})`);
      }
    }
    return problems.list();
  }
}

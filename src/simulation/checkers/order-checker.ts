import type { TaskId } from '../../base/ids.ts';
import type { BoltConcurrency } from '../workload/workload-description.ts';
import type { Checker, FinishedRun } from './checker.ts';
import { deliveries, described, type KnownTuple, knownTuple } from './deliveries.ts';
import { ExpectedRouting, keyOf } from './expected-routing.ts';
import { Problems } from './problems.ts';

/**
 * What one life of a task sends to another task is executed there in the order in which it was
 * emitted, whatever streams it took and whatever was lost in between. Tuple numbers ascend in the
 * order of emits, so along each such pair they must ascend.
 *
 * A bolt that executes several tuples at once keeps the order of each key, where it keeps any.
 *
 * A tuple that comes twice is left to the checker of duplicates.
 */
export class OrderChecker implements Checker {
  readonly name = 'order per pair of tasks';

  finish({ workload, packing }: FinishedRun): readonly string[] {
    const { ledger, plan } = workload;
    const routing = new ExpectedRouting(plan, packing);
    const concurrent = new Map(plan.bolts.map(({ name, concurrency }) => [name, concurrency]));
    const newest = new Map<string, number>();
    const problems = new Problems();
    for (const { tuple: number, task } of deliveries(ledger)) {
      const tuple = knownTuple(ledger, number);
      if (tuple === undefined) continue;
      const concurrency = concurrent.get(routing.componentOf(task));
      const order = concurrency === undefined ? '' : keyInOrder(concurrency, task, tuple, routing);
      if (order === undefined) continue;
      const pair = `${tuple.life} ${task} ${order}`;
      const before = newest.get(pair) ?? -1;
      if (number < before) {
        problems.add(`${described(tuple)} came to task ${task} after the later tuple ${before}`);
      } else newest.set(pair, number);
    }
    return problems.list();
  }
}

/** What of a concurrent bolt is executed in order together with a tuple; undefined for nothing. */
function keyInOrder(
  { order }: BoltConcurrency,
  task: TaskId,
  tuple: KnownTuple,
  routing: ExpectedRouting,
): string | undefined {
  if (order === 'none') return undefined;
  const bolt = routing.componentOf(task);
  const reader = routing
    .readersOf(tuple.component, tuple.stream)
    .find((candidate) => candidate.bolt === bolt);
  return reader && keyOf(reader, tuple, tuple);
}

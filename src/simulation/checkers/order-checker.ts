import type { Checker, FinishedRun } from './checker.ts';
import { deliveries, described, knownTuple } from './deliveries.ts';
import { Problems } from './problems.ts';

/**
 * What one life of a task sends to another task is executed there in the order in which it was
 * emitted, whatever streams it took and whatever was lost in between. Tuple numbers ascend in the
 * order of emits, so along each such pair they must ascend.
 *
 * A tuple that comes twice is left to the checker of duplicates.
 */
export class OrderChecker implements Checker {
  readonly name = 'order per pair of tasks';

  finish({ workload: { ledger } }: FinishedRun): readonly string[] {
    const newest = new Map<string, number>();
    const problems = new Problems();
    for (const { tuple: number, task } of deliveries(ledger)) {
      const tuple = knownTuple(ledger, number);
      if (tuple === undefined) continue;
      const pair = `${tuple.life} ${task}`;
      const before = newest.get(pair) ?? -1;
      if (number < before) {
        problems.add(`${described(tuple)} came to task ${task} after the later tuple ${before}`);
      } else newest.set(pair, number);
    }
    return problems.list();
  }
}

import type { Checker, FinishedRun } from './checker.ts';
import { deliveries } from './deliveries.ts';
import { Problems } from './problems.ts';

/**
 * At most once: no task executes a tuple twice, not even after faults and in different lives.
 * Without acks nothing is ever sent again, so a fault is no excuse.
 */
export class DuplicateChecker implements Checker {
  readonly name = 'at most once';

  finish({ workload: { ledger } }: FinishedRun): readonly string[] {
    const lifeByDelivery = new Map<string, number>();
    const problems = new Problems();
    for (const { tuple, task, life } of deliveries(ledger)) {
      const key = `${tuple} ${task}`;
      const before = lifeByDelivery.get(key);
      if (before === undefined) lifeByDelivery.set(key, life);
      else {
        const lives = before === life ? 'in one life' : `in lives ${before} and ${life}`;
        problems.add(`task ${task} executed tuple ${tuple} twice, ${lives}`);
      }
    }
    return problems.list();
  }
}

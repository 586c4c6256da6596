import type { Checker, FinishedRun } from './checker.ts';
import { Problems } from './problems.ts';

/**
 * At least once: when a topology has completed, every record of a source that emits again what has
 * failed has been acked, or has failed more often than the source puts up with. No fault is an
 * excuse. (That an ack is true is what the checker of trees says.)
 */
export class ReplayChecker implements Checker {
  readonly name = 'at least once';

  finish({ outcome, workload: { ledger } }: FinishedRun): readonly string[] {
    if (outcome !== 'completed') return [];
    const problems = new Problems();
    for (const [task, source] of ledger.trees.sources) {
      for (const state of ['unread', 'waiting', 'pending'] as const) {
        const count = source.count(state);
        if (count > 0) problems.add(`${count} records of task ${task} are ${state} at the end`);
      }
    }
    return problems.list();
  }
}

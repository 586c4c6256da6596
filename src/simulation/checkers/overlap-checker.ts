import type { Checker, FinishedRun } from './checker.ts';
import { Problems } from './problems.ts';

/**
 * Calls of one bolt overlap only where it allows that. User code itself sees what runs beside it
 * (workload/calls-under-way.ts).
 */
export class OverlapChecker implements Checker {
  readonly name = 'calls wait for each other';

  finish({ workload }: FinishedRun): readonly string[] {
    const problems = new Problems();
    for (const overlap of workload.ledger.overlaps) problems.add(overlap);
    return problems.list();
  }
}

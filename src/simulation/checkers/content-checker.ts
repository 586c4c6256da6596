import type { Checker, FinishedRun } from './checker.ts';
import { Problems } from './problems.ts';

/**
 * What a bolt reads is what was emitted: keys, payload, stream and source. User code compares it
 * itself, with the ledger, as it executes a tuple.
 */
export class ContentChecker implements Checker {
  readonly name = 'tuples arrive unchanged';

  finish({ workload }: FinishedRun): readonly string[] {
    const problems = new Problems();
    for (const misreading of workload.ledger.misreadings) problems.add(misreading);
    return problems.list();
  }
}

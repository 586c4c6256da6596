import type { Checker, FinishedRun } from './checker.ts';
import { Problems } from './problems.ts';
import { type MissingCopy, Trees } from './trees.ts';

/**
 * No message is acked before every copy of every tuple that descends from it has been executed and
 * acked, as user code knows it. No fault is an excuse: what may have been lost must fail.
 */
export class TreeChecker implements Checker {
  readonly name = 'nothing is acked too early';

  finish(run: FinishedRun): readonly string[] {
    const problems = new Problems();
    const trees = new Trees(run);
    for (const { tuple, reason, atMs, order } of run.workload.ledger.trees.callbacks) {
      if (reason !== undefined) continue;
      for (const missing of trees.missingOf(tuple, (ack) => ack.order < order)) {
        problems.add(`message ${tuple} was acked at ${atMs} ms ${described(missing)}`);
      }
    }
    return problems.list();
  }
}

function described({ tuple, bolt, task, candidates }: MissingCopy): string {
  return task === undefined
    ? `and tuple ${tuple} never came to ${bolt} (any of tasks ${candidates.join(', ')})`
    : `before task ${task} of ${bolt} had acked tuple ${tuple}`;
}

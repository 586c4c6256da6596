import type { TaskId } from '../../base/ids.ts';
import type { RecordState } from '../workload/replay-source.ts';
import type { Checker, FinishedRun } from './checker.ts';
import { hasDiedRetiring } from './terminal-checker.ts';
import { Problems } from './problems.ts';

/**
 * At least once: when a topology has completed, every record of a source that emits again what has
 * failed has been acked, or has failed more often than the source puts up with. No fault is an
 * excuse. (That an ack is true is what the checker of trees says.)
 */
export class ReplayChecker implements Checker {
  readonly name = 'at least once';

  finish(run: FinishedRun): readonly string[] {
    const { ledger } = run.workload;
    if (run.outcome !== 'completed') return [];
    const problems = new Problems();
    for (const [task, source] of ledger.trees.sources) {
      for (const state of this.#unfinished(task, run)) {
        const count = source.count(state);
        if (count > 0) problems.add(`${count} records of task ${task} are ${state} at the end`);
      }
    }
    return problems.list();
  }

  /** What must not be left of the input of a task. One that an update took away leaves the rest. */
  #unfinished(task: TaskId, run: FinishedRun): readonly RecordState[] {
    if (run.history.retiringMs(task) === undefined) return ['unread', 'waiting', 'pending'];
    return hasDiedRetiring(task, run) ? [] : ['pending'];
  }
}

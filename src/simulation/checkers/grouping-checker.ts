import type { Checker, FinishedRun } from './checker.ts';
import { deliveriesByTuple, described, knownTuple } from './deliveries.ts';
import { Problems } from './problems.ts';
import { isAllowed, RoutingTimes } from './routing-times.ts';

/**
 * Every tuple is inside its grouping: only bolts that read its stream get it, only those of their
 * tasks that the grouping names, and no more of them than it says. Holds whatever the faults. While
 * tasks come and go, one of the plans has to say so that may have been in force for the tuple.
 */
export class GroupingChecker implements Checker {
  readonly name = 'grouping';

  finish(run: FinishedRun): readonly string[] {
    const { ledger } = run.workload;
    const times = new RoutingTimes(run);
    const problems = new Problems();
    for (const [number, deliveries] of deliveriesByTuple(ledger)) {
      const tuple = knownTuple(ledger, number);
      if (tuple === undefined) {
        problems.add(`tuple ${number} was executed and never emitted`);
        continue;
      }
      const readers = times.all.readersOf(tuple.component, tuple.stream);
      const tasks = [...new Set(deliveries.map(({ task }) => task))];
      for (const task of tasks) {
        if (readers.some(({ bolt }) => bolt === times.all.componentOf(task))) continue;
        problems.add(`${described(tuple)} came to task ${task}, which does not read that stream`);
      }
      const lastMs = Math.max(...deliveries.map(({ atMs }) => atMs));
      for (const reader of readers) {
        const got = reader.tasks.filter((task) => tasks.includes(task));
        const alternatives = times.alternativesFor(reader, tuple, lastMs);
        if (got.length === 0 || isAllowed(alternatives, reader, tuple, got)) continue;
        const { bolt, grouping } = reader;
        const who = `${got.length === 1 ? 'task' : 'tasks'} ${got.join(', ')} of ${bolt}`;
        problems.add(`${described(tuple)} came to ${who} against its ${grouping.kind} grouping`);
      }
    }
    return problems.list();
  }
}

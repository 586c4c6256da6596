import type { Checker, FinishedRun } from './checker.ts';
import { deliveriesByTuple, described, knownTuple } from './deliveries.ts';
import { ExpectedRouting, isForEach } from './expected-routing.ts';
import { Problems } from './problems.ts';

/**
 * Every tuple is inside its grouping: only bolts that read its stream get it, only those of their
 * tasks that the grouping names, and no more of them than it says. Holds whatever the faults.
 */
export class GroupingChecker implements Checker {
  readonly name = 'grouping';

  finish({ workload, packing }: FinishedRun): readonly string[] {
    const { ledger } = workload;
    const routing = new ExpectedRouting(workload.plan, packing);
    const problems = new Problems();
    for (const [number, deliveries] of deliveriesByTuple(ledger)) {
      const tuple = knownTuple(ledger, number);
      if (tuple === undefined) {
        problems.add(`tuple ${number} was executed and never emitted`);
        continue;
      }
      const readers = routing.readersOf(tuple.component, tuple.stream);
      const tasks = new Set(deliveries.map(({ task }) => task));
      for (const task of tasks) {
        const reader = readers.find(({ bolt }) => bolt === routing.componentOf(task));
        if (reader === undefined) {
          problems.add(`${described(tuple)} came to task ${task}, which does not read that stream`);
        } else if (!routing.allowedTasks(reader, tuple).includes(task)) {
          const { kind } = reader.grouping;
          problems.add(`${described(tuple)} came to task ${task} against its ${kind} grouping`);
        }
      }
      for (const reader of readers) {
        const got = reader.tasks.filter((task) => tasks.has(task));
        if (got.length <= (isForEach(reader) ? routing.allowedTasks(reader, tuple).length : 1))
          continue;
        const { bolt, grouping } = reader;
        const who = `tasks ${got.join(', ')} of ${bolt}`;
        problems.add(`${described(tuple)} came to ${who} by a ${grouping.kind} grouping`);
      }
    }
    return problems.list();
  }
}

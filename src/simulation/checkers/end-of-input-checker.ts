import type { Incident } from '../../model/completion.ts';
import type { Checker, FinishedRun } from './checker.ts';
import { deliveries } from './deliveries.ts';
import { ExpectedRouting } from './expected-routing.ts';
import { Places } from './places.ts';
import { Problems } from './problems.ts';

/** An end so shortly before the completion may not be in any report yet. */
const REPORTED_WITHIN_MS = 500;

/**
 * The end of input reaches everyone, and the record of it tells the truth.
 *
 * E1. In a completed run every task has come to its end: spouts have read all of their input,
 *     `finish` of every bolt has returned.
 * E2. `finish` begins at most once in a life, and nothing is executed in that life afterwards.
 * E3. The record says `completed-with-losses` exactly when a process that carries data ended while
 *     there was data, and names it, or the stream manager of its container where all of that ended.
 * E4. Without a cause nobody comes to an end twice.
 */
export class EndOfInputChecker implements Checker {
  readonly name = 'end of input';

  finish(run: FinishedRun): readonly string[] {
    const problems = new Problems();
    checkLives(run, problems);
    checkAfterFinish(run, problems);
    if (run.outcome === 'completed') {
      checkAllEnded(run, problems);
      checkRecord(run, problems);
    }
    return problems.list();
  }
}

function checkLives({ workload, ends }: FinishedRun, problems: Problems): void {
  const endedTasks = new Set<number>();
  for (const { task, component, finishCalls, endedAtMs } of workload.ledger.lives) {
    if (finishCalls > 1) {
      problems.add(`task ${task} of ${component} was finished ${finishCalls} times in one life`);
    }
    if (endedAtMs === undefined) continue;
    if (endedTasks.has(task) && ends.length === 0) {
      problems.add(`task ${task} of ${component} came to its end twice`);
    }
    endedTasks.add(task);
  }
}

function checkAfterFinish({ workload: { ledger } }: FinishedRun, problems: Problems): void {
  let index = 0;
  for (const { life: number, tuple } of deliveries(ledger)) {
    const { executesBeforeFinish, task } = ledger.life(number);
    if (executesBeforeFinish !== undefined && index >= executesBeforeFinish) {
      problems.add(`task ${task} executed tuple ${tuple} after its finish had begun`);
    }
    index += 1;
  }
}

function checkAllEnded({ workload, packing }: FinishedRun, problems: Problems): void {
  const routing = new ExpectedRouting(workload.plan, packing);
  for (const task of routing.tasks) {
    const hasEnded = workload.ledger.livesOf(task).some(({ endedAtMs }) => endedAtMs !== undefined);
    if (!hasEnded)
      problems.add(`task ${task} of ${routing.componentOf(task)} never came to its end`);
  }
  for (const { name, tuples } of workload.plan.spouts) {
    for (const task of routing.tasksOf(name)) {
      const read = workload.ledger.counted('input', task);
      if (read !== tuples) problems.add(`task ${task} of ${name} read ${read} of ${tuples} tuples`);
    }
  }
}

function checkRecord(run: FinishedRun, problems: Problems): void {
  const { completion, packing } = run;
  if (completion === undefined) {
    problems.add('the topology is gone and has no completion record');
    return;
  }
  const places = new Places(packing);
  const data = new Set(places.dataProcesses);
  const { firstMs, lastMs } = timeOfData(run);
  const ended = run.ends.filter(({ process, atMs }) => data.has(process) && atMs <= lastMs);
  const duringData = ended.filter(
    ({ atMs }) => atMs >= firstMs && atMs <= lastMs - REPORTED_WITHIN_MS,
  );
  const { result, incidents } = completion;
  if ((result === 'completed') !== (incidents.length === 0)) {
    problems.add(`the record says ${result} and names ${incidents.length} processes`);
  }
  for (const { process, atMs } of duringData) {
    if (names(incidents, process, places)) continue;
    // Reports are nodes of the state tree, which executors write when they can.
    const executor = executorOf(process, places);
    const wait = { processes: [executor], fromMs: atMs, toMs: lastMs };
    if (run.explanation.explainsDelay(wait)) continue;
    problems.add(`the record (${result}) does not name ${process}, which ended at ${atMs} ms`);
  }
  const endedNames = new Set(ended.map(({ process }) => process));
  for (const { process } of incidents) {
    if (!endedNames.has(process)) {
      problems.add(`the record names ${process}, which never ended`);
    }
  }
}

/** From the first emit on there is data; behind `takenDownFromMs` there is none. */
function timeOfData({ workload: { ledger }, takenDownFromMs, endedAtMs }: FinishedRun): {
  readonly firstMs: number;
  readonly lastMs: number;
} {
  const firstMs = ledger.emitted(0)?.atMs ?? Number.POSITIVE_INFINITY;
  return { firstMs, lastMs: takenDownFromMs ?? endedAtMs };
}

function executorOf(process: string, places: Places): string {
  return (places.streamManagerOf(process) ?? process).replace(/^stmgr-/, 'executor-');
}

function names(incidents: readonly Incident[], process: string, places: Places): boolean {
  const streamManager = places.streamManagerOf(process);
  return incidents.some((known) => known.process === process || known.process === streamManager);
}

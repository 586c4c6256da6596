import { EXIT } from '../../base/exit-codes.ts';
import type { TaskId } from '../../base/ids.ts';
import type { Incident } from '../../model/completion.ts';
import type { Checker, FinishedRun } from './checker.ts';
import { deliveries } from './deliveries.ts';
import { ExpectedRouting } from './expected-routing.ts';
import { isCutShort } from './loss-causes.ts';
import { Places } from './places.ts';
import { Problems } from './problems.ts';

/** An end so shortly before the completion may not be in any report yet. */
const REPORTED_WITHIN_MS = 500;
/** From a plan to its being seen. */
const SEEN_WITHIN_MS = 200;

/**
 * The end of input reaches everyone, and the record of it tells the truth.
 *
 * E1. In a completed run every task of the last plan has come to its end: spouts have read all of
 *     their input, but for those that an update was taking away, or brought too late; `finish` of
 *     every bolt has returned.
 * E2. `finish` begins at most once in a life, and nothing is executed in that life afterwards.
 * E3. The record says `completed-with-losses` exactly when a process that carries data ended while
 *     there was data and a plan that has it, and names it, or the stream manager of its container
 *     where all of that ended.
 *     Nothing excuses a record that leaves out whom the others must have missed: an instance whose
 *     task had not ended, by a stream manager that never did. It may name an instance, too, whose
 *     connection with its stream manager a fault can have broken.
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

function checkAllEnded(run: FinishedRun, problems: Problems): void {
  const { workload, packing, history, takenDownFromMs = run.endedAtMs } = run;
  const routing = new ExpectedRouting(workload.plan, packing);
  const inPlan = new Set(
    history.planAt(takenDownFromMs)?.instances.map(({ task }) => task) ?? routing.tasks,
  );
  const isLasting = (task: TaskId): boolean =>
    inPlan.has(task) &&
    history.retiringMs(task) === undefined &&
    history.withoutInputMs(task) === undefined;
  const spouts = new Set(workload.plan.spouts.map(({ name }) => name));
  for (const task of routing.tasks) {
    if (!inPlan.has(task)) continue;
    if (!isLasting(task) && spouts.has(routing.componentOf(task))) continue;
    const hasEnded = workload.ledger.livesOf(task).some(({ endedAtMs }) => endedAtMs !== undefined);
    if (!hasEnded)
      problems.add(`task ${task} of ${routing.componentOf(task)} never came to its end`);
  }
  for (const { name, tuples } of workload.plan.spouts) {
    for (const task of routing.tasksOf(name).filter(isLasting)) {
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
    ({ process, atMs, code }) =>
      atMs >= firstMs &&
      (atMs < lastMs || code !== EXIT.ok) && // The first that ends shows that all are to.
      run.history.isInForce(process, atMs - SEEN_WITHIN_MS, atMs + SEEN_WITHIN_MS),
  );
  const { result, incidents, recovered } = completion;
  const named = [...incidents, ...recovered];
  if ((result === 'completed') !== (incidents.length === 0)) {
    problems.add(`the record says ${result} and names ${incidents.length} processes`);
  }
  const endedNames = new Set(ended.map(({ process }) => process));
  for (const { process, atMs } of duringData) {
    if (names(named, process, places)) continue;
    const wasWatched = !endedNames.has(places.streamManagerOf(process) ?? process);
    const isExcused = !(wasWatched && isMissed(process, atMs, run));
    if (isExcused && isReportLate(process, atMs, run)) continue;
    problems.add(`the record (${result}) does not name ${process}, which ended at ${atMs} ms`);
  }
  for (const { process } of named) {
    if (!endedNames.has(process) && !mayBeCutOff(process, firstMs, run)) {
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

/** True for an instance with a task at work: it was connected, and its end had not come. */
function isMissed(process: string, atMs: number, { workload, packing }: FinishedRun): boolean {
  const task = new Places(packing).taskOf(process);
  if (task === undefined) return false;
  const lives = workload.ledger.livesOf(task).filter(({ openedAtMs }) => openedAtMs < atMs);
  const hasEnded = lives.some(({ endedAtMs = Infinity }) => endedAtMs <= atMs);
  return lives.length > 0 && !hasEnded;
}

/** Reports are nodes of the state tree, which executors write when they can. */
function isReportLate(process: string, atMs: number, run: FinishedRun): boolean {
  const { lastMs } = timeOfData(run);
  if (atMs > lastMs - REPORTED_WITHIN_MS) return true;
  const executor = executorOf(process, new Places(run.packing));
  return run.explanation.explainsDelay({ processes: [executor], fromMs: atMs, toMs: lastMs });
}

function mayBeCutOff(process: string, firstMs: number, run: FinishedRun): boolean {
  const task = new Places(run.packing).taskOf(process);
  if (task === undefined) return false;
  if (isCutShort(task, run)) return true;
  return run.explanation.explainsLoss({ from: task, to: task, emittedAtMs: firstMs });
}

function executorOf(process: string, places: Places): string {
  return (places.streamManagerOf(process) ?? process).replace(/^stmgr-/, 'executor-');
}

function names(incidents: readonly Incident[], process: string, places: Places): boolean {
  const streamManager = places.streamManagerOf(process);
  return incidents.some((known) => known.process === process || known.process === streamManager);
}

import type { TaskId } from '../../base/ids.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';
import { mayBegin, type PhysicalPlan } from '../../model/physical-plan.ts';
import { settledPacking } from '../../model/settled-packing.ts';
import type { Checker, FinishedRun, LivingEvent, SimulationEvent } from './checker.ts';
import { isCutShort } from './loss-causes.ts';
import { Places } from './places.ts';
import { Problems } from './problems.ts';
import type { SeenPlan } from './run-history.ts';
import { aheadMs } from './user-clock.ts';

/** From the end of what retires to a packing plan without it. */
const SETTLED_WITHIN_MS = 20_000;
/** A process that is told to end, and the grace time of a stage of its container each. */
const ENDED_WITHIN_MS = 15_000;
/** Plans are seen by looking. */
const SEEN_WITHIN_MS = 200;
/** As long as the setting `topology.update.drain.secs` says by default. */
const DRAINED_WITHIN_MS = 60_000;

/**
 * A change of a running topology comes to its end, and does nothing else. (What it asks for is the
 * checker of commands' concern, that unchanged tasks keep their process that of deaths.)
 *
 * U1. A task that retires has come to its end when it leaves the plan, unless its time was over, or
 *     it was lost meanwhile.
 * U2. The plans of an update follow each other within a bound: nothing retires for ever.
 * U3. The epochs of packing plans only grow, and the number of a task is given once: one that is in
 *     no plan any more never comes back, and new ones are above all that were given.
 * U4. Soon after a plan no process is there that it does not name.
 * U5. A spout's place never has two readers: a task that is opened has no index that a retiring
 *     task of its component has in the plan of that moment.
 * U6. A new spout task is not opened while it is joining, and never when it has come too late. That
 *     is so only if all tasks of its component that had begun had read all of their input, or if a
 *     task that reads from it had ended.
 */
export class UpdateChecker implements Checker {
  readonly name = 'updates come to their end';
  #hasChanged = false;
  /** By name: its processes, one after the other, as far as they were seen. */
  readonly #living = new Map<string, SeenLife[]>();

  observe(event: SimulationEvent): void {
    if (event.kind === 'packing') this.#hasChanged = true;
    else if (event.kind === 'living') this.#look(event);
  }

  finish(run: FinishedRun): readonly string[] {
    const problems = new Problems();
    if (!run.history.hasUpdates) return [];
    checkEnds(run, problems);
    checkBound(run, problems);
    checkNumbers(run, problems);
    this.#checkProcesses(run, problems);
    checkSpouts(run, problems);
    checkBeginnings(run, problems);
    return problems.list();
  }

  #look({ processes, atMs }: LivingEvent): void {
    if (!this.#hasChanged) return;
    for (const { name, pid } of processes) {
      const lives = this.#living.get(name) ?? [];
      this.#living.set(name, lives);
      const last = lives.at(-1);
      if (last?.pid === pid) last.lastMs = atMs;
      else lives.push({ pid, fromMs: atMs, lastMs: atMs });
    }
  }

  /** U4 */
  #checkProcesses(run: FinishedRun, problems: Problems): void {
    const endMs = run.takenDownFromMs ?? run.endedAtMs;
    for (const [process, lives] of this.#living) {
      for (const { fromMs, toMs } of run.history.unwantedTimes(process)) {
        const seen = lives.filter((life) => life.fromMs < toMs && life.lastMs > fromMs);
        const sinceMs = Math.max(seen[0]?.fromMs ?? toMs, fromMs);
        const untilMs = Math.min(seen.at(-1)?.lastMs ?? fromMs, toMs, endMs);
        if (untilMs - sinceMs <= ENDED_WITHIN_MS) continue;
        const executor = `executor-${/\d+/.exec(process)?.[0]}`;
        const processes = [process, executor, 'scheduler'];
        if (run.explanation.explainsDelay({ processes, fromMs, toMs: untilMs })) continue;
        problems.add(`${process} was there at ${untilMs} ms, in no plan since ${fromMs} ms`);
      }
    }
  }
}

/** One process, by when it was seen. */
interface SeenLife {
  readonly pid: number;
  readonly fromMs: number;
  lastMs: number;
}

/** U1 */
function checkEnds(run: FinishedRun, problems: Problems): void {
  const { workload, history, packing, ends } = run;
  const places = new Places(packing);
  for (const task of tasksOf(packing)) {
    const leftMs = history.leftMs(task);
    if (leftMs === undefined || leftMs >= (run.takenDownFromMs ?? run.endedAtMs)) continue;
    const lives = workload.ledger.livesOf(task);
    const hasEnded = lives.some(
      ({ endedAtMs = Infinity, component }) =>
        endedAtMs - aheadMs(workload.plan, component) <= leftMs,
    );
    if (hasEnded || isCutShort(task, run)) continue;
    const { instance, streamManager } = places.of(task);
    const isLost = ends.some(
      ({ process, atMs }) => [instance, streamManager].includes(process) && atMs <= leftMs,
    );
    if (!isLost) problems.add(`task ${task} left the plan at ${leftMs} ms and had not ended`);
  }
}

/** U2 */
function checkBound(run: FinishedRun, problems: Problems): void {
  const { history, explanation, packing } = run;
  const endMs = Math.min(run.endedAtMs, run.takenDownFromMs ?? run.endedAtMs);
  const last = history.packings.at(-1);
  if (last === undefined || settledPacking(last.plan) === last.plan) return;
  const fromMs = Math.max(last.atMs, retiringSince(history.plans) ?? 0);
  const limitMs = DRAINED_WITHIN_MS + SETTLED_WITHIN_MS;
  if (endMs - fromMs <= limitMs) return;
  const { dataProcesses } = new Places(packing);
  const executors = packing.containers.map(({ id }) => `executor-${id}`);
  const processes = ['heron-tmanager', 'scheduler', ...executors, ...dataProcesses];
  if (explanation.explainsDelay({ processes, fromMs, toMs: endMs })) return;
  problems.add(`tasks of the packing plan of ${last.atMs} ms still retire at ${endMs} ms`);
}

/** When what retires in the last plan began to; undefined when nothing does. */
function retiringSince(plans: readonly SeenPlan<PhysicalPlan>[]): number | undefined {
  const isRetiring = ({ plan }: SeenPlan<PhysicalPlan>): boolean =>
    plan.instances.some((instance) => instance.isRetiring === true);
  const last = plans.findLastIndex((seen) => !isRetiring(seen));
  return plans[last + 1]?.atMs;
}

/** U3 */
function checkNumbers({ history }: FinishedRun, problems: Problems): void {
  const gone = new Set<number>();
  let highest = 0;
  let before: ReadonlySet<number> = new Set();
  let epoch = 0;
  for (const { plan, atMs } of history.packings) {
    const tasks = new Set(tasksOf(plan).map(Number));
    const { epoch: next = 0 } = plan;
    if (next < epoch) problems.add(`packing plan ${next} of ${atMs} ms came after plan ${epoch}`);
    epoch = next;
    for (const task of before) if (!tasks.has(task)) gone.add(task);
    for (const task of tasks) {
      if (gone.has(task)) problems.add(`the number ${task} is given again at ${atMs} ms`);
      else if (!before.has(task) && before.size > 0 && task <= highest) {
        problems.add(`the new task of ${atMs} ms has the number ${task}, after ${highest}`);
      }
    }
    highest = Math.max(highest, plan.lastTask ?? 0, ...tasks);
    before = tasks;
  }
}

/** U5 */
function checkSpouts({ workload, history }: FinishedRun, problems: Problems): void {
  const spouts = new Set(workload.plan.spouts.map(({ name }) => name));
  for (const { task, component, taskIndex, openedAtMs } of workload.ledger.lives) {
    if (!spouts.has(component)) continue;
    // Both before and after: the plan in which one leaves is the one with which another opens.
    const plans = [history.planAt(openedAtMs), history.planAt(openedAtMs + SEEN_WITHIN_MS)];
    const readers = plans.map((plan) =>
      plan?.instances.find(
        (other) =>
          other.task !== task &&
          other.isRetiring === true &&
          other.component === component &&
          other.componentIndex === taskIndex,
      ),
    );
    const isRetiringItself = plans.some((plan) =>
      plan?.instances.some((own) => own.task === task && own.isRetiring === true),
    );
    const [reader] = readers;
    if (reader === undefined || !readers.every((one) => one === reader) || isRetiringItself)
      continue;
    problems.add(
      `task ${task} of ${component} was opened at ${openedAtMs} ms with the index ${taskIndex}, ` +
        `which task ${reader.task} had`,
    );
  }
}

/** U6 */
function checkBeginnings(run: FinishedRun, problems: Problems): void {
  const { history, packing } = run;
  const { ledger } = run.workload;
  for (const { task, component, openedAtMs } of ledger.lives) {
    const plans = [history.planAt(openedAtMs), history.planAt(openedAtMs + SEEN_WITHIN_MS)];
    const isJoining = (plan: PhysicalPlan | undefined): boolean =>
      plan?.instances.some((one) => one.task === task && one.joiningEpoch !== undefined) === true;
    if (!plans.every(isJoining)) continue;
    problems.add(`task ${task} of ${component} was opened at ${openedAtMs} ms, still joining`);
  }
  for (const task of tasksOf(packing)) {
    const atMs = history.withoutInputMs(task);
    if (atMs === undefined) continue;
    const plan = history.planAt(atMs);
    const own = plan?.instances.find((instance) => instance.task === task);
    if (ledger.livesOf(task).length > 0) problems.add(`task ${task} came too late and was opened`);
    if (plan === undefined || own === undefined || isTooLate(own.component, plan, run)) continue;
    problems.add(`task ${task} of ${own.component} is said to come too late at ${atMs} ms`);
  }
}

function isTooLate(component: string, plan: PhysicalPlan, { workload }: FinishedRun): boolean {
  const { spouts, bolts } = workload.plan;
  const { ledger } = workload;
  const tuples = spouts.find(({ name }) => name === component)?.tuples ?? 0;
  const hasReadAll = (task: TaskId): boolean => ledger.counted('input', task) >= tuples;
  const begun = plan.instances.filter((one) => one.component === component && mayBegin(one));
  if (begun.every(({ task }) => hasReadAll(task))) return true;
  const readers = new Set(
    bolts
      .filter(({ inputs }) => inputs.some((input) => input.component === component))
      .map(({ name }): string => name),
  );
  return plan.instances.some(
    (one) =>
      readers.has(one.component) &&
      ledger.livesOf(one.task).some(({ endedAtMs }) => endedAtMs !== undefined),
  );
}

function tasksOf({ containers }: PackingPlan): readonly TaskId[] {
  return containers.flatMap(({ instances }) => instances.map(({ task }) => task));
}

import type { FailReason } from '../../model/fail-reason.ts';
import { effectiveConfig } from '../../model/runtime-config.ts';
import type { Life } from '../workload/life.ts';
import { CHANGED_SETTING } from '../workload/workload-task.ts';
import type { Checker, FinishedRun } from './checker.ts';
import { Places } from './places.ts';
import { Problems } from './problems.ts';

/** From a plan to the component that is told of it, where no code keeps its thread. */
const TOLD_WITHIN_MS = 1_000;

/** Fails that a change of a running topology must not cause. */
const LOSSES: ReadonlySet<FailReason['kind']> = new Set(['lost-instance', 'lost-stream-manager']);

/**
 * What user code sees of changes while the topology runs.
 *
 * V1. Every component that runs is told of the newest plan: of its tasks, whether its own task
 *     retires, and of the setting that was changed.
 * V2. What it is shown is one plan: as many tasks as it is said to have, by a plan that was there.
 * V3. Where nothing was done to the topology but changes, and no user code ended a process, no
 *     message fails because something was lost.
 */
export class ChangeEffectsChecker implements Checker {
  readonly name = 'user code sees changes and nothing of their making';

  finish(run: FinishedRun): readonly string[] {
    const problems = new Problems();
    checkSights(run, problems);
    checkLast(run, problems);
    if (isChangedOnly(run)) checkFails(run, problems);
    return problems.list();
  }
}

/** V2 */
function checkSights({ workload, history }: FinishedRun, problems: Problems): void {
  if (history.plans.length === 0) return;
  const known = new Set(
    history.plans.flatMap(({ plan }) =>
      plan.topology.components.map(({ name }) => {
        const tasks = plan.instances
          .filter(({ component, isRetiring }) => component === name && isRetiring !== true)
          .map(({ task }) => task);
        return `${name} ${tasks.toSorted((one, other) => one - other).join(',')}`;
      }),
    ),
  );
  for (const { life, atMs, tasks, parallelism } of workload.ledger.sights) {
    const { task, component } = life;
    if (tasks.length !== parallelism) {
      problems.add(`task ${task} saw ${tasks.length} tasks and ${parallelism} at ${atMs} ms`);
    }
    if (known.has(`${component} ${tasks.join(',')}`)) continue;
    problems.add(`task ${task} of ${component} saw tasks ${tasks.join(', ')} at ${atMs} ms`);
  }
}

/** V1 */
function checkLast(run: FinishedRun, problems: Problems): void {
  const { workload, history, packing, explanation } = run;
  const endMs = Math.min(run.endedAtMs, run.takenDownFromMs ?? run.endedAtMs);
  const seen = history.plans.findLast(({ atMs }) => atMs <= endMs - TOLD_WITHIN_MS);
  if (seen === undefined) return;
  const { plan, atMs } = seen;
  // News that come later may have come already.
  if (history.planAt(endMs) !== plan) return;
  const value = effectiveConfig(plan.topology.config).get(CHANGED_SETTING);
  const places = new Places(packing);
  for (const { task, component, isRetiring = false } of plan.instances) {
    const life = workload.ledger.livesOf(task).at(-1);
    if (life === undefined || !runsFrom(life, atMs, run)) continue;
    const { instance, streamManager } = places.of(task);
    const processes = ['heron-tmanager', streamManager, instance];
    if (explanation.explainsDelay({ processes, fromMs: atMs, toMs: endMs })) continue;
    const last = workload.ledger.sights.findLast((sight) => sight.life === life);
    const tasks = plan.instances
      .filter((other) => other.component === component && other.isRetiring !== true)
      .map((other) => Number(other.task));
    const isSame =
      last?.isRetiring === isRetiring &&
      last.value === value &&
      last.tasks.join() === tasks.toSorted((one, other) => one - other).join();
    if (!isSame)
      problems.add(`task ${task} of ${component} was not told of the plan of ${atMs} ms`);
  }
}

/** Whether a component was open when there was a plan, and could be told of it for a while. */
function runsFrom({ task, openedAtMs, endedAtMs, index }: Life, planMs: number, run: FinishedRun) {
  const { ledger } = run.workload;
  const toMs = planMs + TOLD_WITHIN_MS;
  const isHanging = ledger.hangs.some(
    (hang) => hang.task === task && hang.untilMs >= planMs && hang.fromMs <= toMs,
  );
  const { instance } = new Places(run.packing).of(task);
  const hasDied = run.ends.some(({ process, atMs }) => process === instance && atMs >= openedAtMs);
  const hasEnded = endedAtMs !== undefined && endedAtMs <= toMs;
  const slowMs = run.workload.plan.bolts.find(({ name }) => name === ledger.life(index).component);
  const isSlow = (slowMs?.workMs ?? 0) > 0;
  return openedAtMs <= planMs && !isHanging && !hasDied && !hasEnded && !isSlow;
}

function isChangedOnly({ history, explanation, ends, ...run }: FinishedRun): boolean {
  if (!history.hasUpdates || explanation.hasFaults) return false;
  const untilMs = run.takenDownFromMs ?? run.endedAtMs;
  return ends.every(({ code, atMs }) => code === 0 || atMs >= untilMs);
}

/** V3 */
function checkFails({ workload }: FinishedRun, problems: Problems): void {
  for (const { tuple, reason, atMs } of workload.ledger.trees.callbacks) {
    if (reason === undefined || !LOSSES.has(reason.kind)) continue;
    problems.add(`message ${tuple} failed at ${atMs} ms: ${reason.kind}, by an update alone`);
  }
}

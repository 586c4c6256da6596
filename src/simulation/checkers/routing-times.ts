import { containerOfStreamManager, type TaskId } from '../../base/ids.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import type { FinishedRun } from './checker.ts';
import type { KnownTuple } from './deliveries.ts';
import {
  ExpectedRouting,
  isForEach,
  keyOf,
  type PlacedTasks,
  type Reader,
} from './expected-routing.ts';
import { Places } from './places.ts';
import { aheadMs, underWayMs } from './user-clock.ts';

/*
  By which plans a tuple may have been routed, where the tasks of a topology change while it runs.

  T1. Its stream manager routes it by the plan that it works by, at some time between the emit and
      the delivery. Nobody sees that time, so any plan between is allowed; outside of an update it
      is one.
  T2. Where user code chooses the task, it does so by the plan that its instance knows, which may be
      older: any plan since then, and before, as long as news of plans may take. It is told between
      two calls: one that has begun before goes on by what it knew.
*/

/** A plan that is stored may be in use before it is seen to be stored. */
const SEEN_WITHIN_MS = 100;
/** From the storing of a plan until user code knows it, in a run without faults. */
const KNOWN_WITHIN_MS = 1_000;

/** Some plans in a row that have the same tasks. */
interface Phase {
  readonly routing: ExpectedRouting;
  readonly fromMs: number;
  /** Of the last plan that has these tasks. */
  lastEpoch: number;
}

export class RoutingTimes {
  /** All tasks that there ever were. */
  readonly all: ExpectedRouting;
  readonly #run: FinishedRun;
  readonly #places: Places;
  readonly #phases: readonly Phase[];

  constructor(run: FinishedRun) {
    this.#run = run;
    this.all = new ExpectedRouting(run.workload.plan, run.packing);
    this.#places = new Places(run.packing);
    this.#phases = phasesOf(run);
  }

  /**
   * The readers of a tuple by every plan that it may have been routed by: in each list one reader
   * for each bolt, in the same order.
   */
  alternatives(tuple: KnownTuple, untilMs: number): readonly ExpectedRouting[] {
    if (this.#phases.length <= 1) return [this.#phases[0]?.routing ?? this.all];
    const { streamManager } = this.#places.of(tuple.task);
    const { plan } = this.#run.workload;
    const sentMs = Math.min(tuple.atMs, untilMs) - aheadMs(plan, tuple.component);
    const fromEpoch = this.#run.history.workingEpoch(streamManager, sentMs);
    return this.#between(fromEpoch, untilMs, tuple.task);
  }

  /** The same where user code chooses the tasks (T2). */
  alternativesOfUser(tuple: KnownTuple, untilMs: number): readonly ExpectedRouting[] {
    if (this.#phases.length <= 1) return [this.#phases[0]?.routing ?? this.all];
    const { explanation, history, workload } = this.#run;
    const hangs = workload.ledger.hangs.some(({ task }) => task === tuple.task);
    const { streamManager } = this.#places.of(tuple.task);
    const { plan } = workload;
    const lateMs = aheadMs(plan, tuple.component) + underWayMs(plan, tuple.component);
    const knownMs = tuple.atMs - KNOWN_WITHIN_MS - lateMs;
    const isLate = explanation.hasFaults || hangs;
    const fromEpoch = isLate ? 0 : history.workingEpoch(streamManager, knownMs);
    return this.#between(fromEpoch, untilMs, tuple.task);
  }

  /** Those for a reader, by whoever chooses. */
  alternativesFor(reader: Reader, tuple: KnownTuple, untilMs: number): readonly ExpectedRouting[] {
    const { kind } = reader.grouping;
    return kind === 'direct' || kind === 'custom'
      ? this.alternativesOfUser(tuple, untilMs)
      : this.alternatives(tuple, untilMs);
  }

  #between(fromEpoch: number, untilMs: number, task: TaskId): readonly ExpectedRouting[] {
    const phases = this.#phases.filter(
      ({ lastEpoch, fromMs, routing }) =>
        lastEpoch >= fromEpoch &&
        fromMs <= untilMs + SEEN_WITHIN_MS &&
        routing.tasks.includes(task),
    );
    // A task that has left the plan and says something all the same is judged by its last one.
    const last = this.#phases.findLast(({ routing }) => routing.tasks.includes(task));
    const known = phases.length > 0 ? phases : last === undefined ? [] : [last];
    return known.length > 0 ? known.map(({ routing }) => routing) : [this.all];
  }
}

/** The reader of the same bolt by another plan. */
export function readerBy(routing: ExpectedRouting, tuple: KnownTuple, bolt: string): Reader {
  const reader = routing
    .readersOf(tuple.component, tuple.stream)
    .find((candidate) => candidate.bolt === bolt);
  if (reader === undefined) throw new Error(`${bolt} reads the stream by every plan`);
  return reader;
}

/**
 * What must go to one task: the reader, its tasks, and the values of its key. Undefined without a
 * key, and where the tuple may have been routed by plans with different tasks for its reader.
 */
export function keyBy(times: RoutingTimes, reader: Reader, tuple: KnownTuple, untilMs: number) {
  const key = keyOf(reader, tuple, tuple);
  if (key === undefined) return undefined;
  const taskLists = new Set(
    times
      .alternatives(tuple, untilMs)
      .map((routing) => readerBy(routing, tuple, reader.bolt).tasks.join(',')),
  );
  const [tasks] = taskLists;
  return taskLists.size === 1 ? `${key} of tasks ${tasks}` : undefined;
}

/** Copies of a tuple that did not come, by the plan by which the fewest are missing. */
export function fewestMissing<Copy>(
  alternatives: readonly ExpectedRouting[],
  missingBy: (routing: ExpectedRouting) => readonly Copy[],
): readonly Copy[] {
  let fewest: readonly Copy[] | undefined;
  for (const routing of alternatives) {
    const missing = missingBy(routing);
    if (fewest === undefined || missing.length < fewest.length) fewest = missing;
    if (fewest.length === 0) break;
  }
  return fewest ?? [];
}

/** Whether a tuple came to the tasks of a reader as some plan says. */
export function isAllowed(
  alternatives: readonly ExpectedRouting[],
  reader: Reader,
  tuple: KnownTuple,
  got: readonly TaskId[],
): boolean {
  return alternatives.some((routing) => {
    const allowed = routing.allowedTasks(readerBy(routing, tuple, reader.bolt), tuple);
    const most = isForEach(reader) ? allowed.length : 1;
    return got.length <= most && got.every((task) => allowed.includes(task));
  });
}

function phasesOf({ workload, history }: FinishedRun): readonly Phase[] {
  const phases: Phase[] = [];
  let before: string | undefined;
  for (const { plan, atMs } of history.plans) {
    const placed = placedTasks(plan);
    const tasks = JSON.stringify(placed);
    const last = phases.at(-1);
    if (tasks === before && last !== undefined) {
      last.lastEpoch = plan.epoch;
      continue;
    }
    before = tasks;
    const routing = new ExpectedRouting(workload.plan, placed);
    phases.push({ routing, fromMs: atMs, lastEpoch: plan.epoch });
  }
  return phases;
}

/** In order of their numbers, for comparison. */
function placedTasks({ instances }: PhysicalPlan): PlacedTasks {
  const inOrder = instances.toSorted((one, other) => one.task - other.task);
  return {
    containers: inOrder.map(({ task, component, streamManager, isRetiring }) => ({
      id: containerOfStreamManager(streamManager) ?? 0,
      instances: [{ task, component, ...(isRetiring === true && { isRetiring }) }],
    })),
  };
}

import { EXIT } from '../../base/exit-codes.ts';
import type { TaskId } from '../../base/ids.ts';
import { Settings } from '../../model/settings.ts';
import type { FinishedRun, ProcessEnd } from './checker.ts';
import type { KnownTuple } from './deliveries.ts';
import { Places, taskOfInstance } from './places.ts';

/**
 * A process that has died may be written to until its peers notice: the connection's reset takes a
 * network's latency, and a paused peer notices when it runs again.
 */
const NOTICED_WITHIN_MS = 1000;

const MS_PER_SECOND = 1000;
/** Plans are seen by looking. */
const SEEN_WITHIN_MS = 100;

/**
 * Why tuples may be missing. At most once allows it in two cases: a process on the way ended, or a
 * connection on the way broke. Whether these had a cause of their own is not asked here: other
 * checkers do. A task that was started anew may also emit, in `finish` say, when a task behind it
 * has long come to its end, from which nothing wakes it.
 */
export class LossCauses {
  readonly #run: FinishedRun;
  readonly #places: Places;
  readonly #isDropping: boolean;
  /** The last end of each process while the topology ran; later ones excuse all before them. */
  readonly #lastEndMs = new Map<string, number>();

  constructor(run: FinishedRun) {
    this.#run = run;
    this.#places = new Places(run.packing);
    const settings = new Settings(new Map(Object.entries(run.workload.plan.config)));
    this.#isDropping = settings.get('topology.droptuples.upon.backpressure');
    const untilMs = run.takenDownFromMs ?? Number.POSITIVE_INFINITY;
    for (const end of run.ends) {
      const { process, atMs } = end;
      if (atMs > untilMs) continue; // All its data had come to its end.
      if (isWithoutData(end, run)) continue;
      const before = this.#lastEndMs.get(process) ?? Number.NEGATIVE_INFINITY;
      this.#lastEndMs.set(process, Math.max(before, atMs));
    }
  }

  /** Whether a tuple that was emitted then may have been lost between the tasks. */
  explains({ task: from, atMs: emittedAtMs, stream, component }: KnownTuple, to: TaskId): boolean {
    const { explanation, history } = this.#run;
    const hasEnd = this.#places.wayOf(from, to).some((process) => {
      const endMs = this.#lastEndMs.get(process);
      return endMs !== undefined && endMs + NOTICED_WITHIN_MS >= emittedAtMs;
    });
    return (
      this.#isDropping ||
      hasEnd ||
      [from, to].some((task) => isCutShort(task, this.#run)) ||
      (history.retiringMs(to) !== undefined && this.#isChosen(component, stream)) ||
      this.#isToEnded(from, to, emittedAtMs) ||
      explanation.explainsLoss({ from, to, emittedAtMs })
    );
  }

  /** User code may name a task that is retiring or gone, by a list from before. */
  #isChosen(component: string, stream: string): boolean {
    const inputs = this.#run.workload.plan.bolts.flatMap((bolt) => bolt.inputs);
    return inputs.some(
      (input) =>
        input.component === component &&
        input.stream === stream &&
        (input.grouping.kind === 'direct' || input.grouping.kind === 'custom'),
    );
  }

  #isToEnded(from: TaskId, to: TaskId, emittedAtMs: number): boolean {
    const { ledger } = this.#run.workload;
    if (ledger.livesOf(from).length < 2) return false;
    return ledger
      .livesOf(to)
      .some(({ endedAtMs }) => endedAtMs !== undefined && endedAtMs <= emittedAtMs);
  }
}

/**
 * An update took it away: the end of its task had come before, and everything of it has been
 * consumed, or the plan was never in force that had it.
 */
function isWithoutData({ process, code, signal, atMs }: ProcessEnd, run: FinishedRun): boolean {
  const task = taskOfInstance(process);
  const lives = task === undefined ? [] : run.workload.ledger.livesOf(task);
  if (task !== undefined && run.history.joinedMs(task) !== undefined && lives.length > 0) {
    if (lives.every(({ endedAtMs }) => endedAtMs === undefined)) return false;
  }
  const isOrderly = code === EXIT.ok || signal === 'SIGTERM';
  return isOrderly && run.history.unwantedTimes(process).some(({ fromMs }) => fromMs <= atMs);
}

/** An update has not waited for the end of the task: its time to work off what it had was over. */
export function isCutShort(task: TaskId, { history, workload }: FinishedRun): boolean {
  const leftMs = history.leftMs(task);
  if (leftMs === undefined) return false;
  const limitMs = new Settings(new Map(Object.entries(workload.plan.config))).get(
    'topology.update.drain.secs',
  );
  return leftMs - (history.retiringMs(task) ?? leftMs) >= limitMs * MS_PER_SECOND - SEEN_WITHIN_MS;
}

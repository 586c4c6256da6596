import type { TaskId } from '../../base/ids.ts';
import { Settings } from '../../model/settings.ts';
import type { FinishedRun } from './checker.ts';
import { Places } from './places.ts';

/**
 * A process that has died may be written to until its peers notice: the connection's reset takes a
 * network's latency, and a paused peer notices when it runs again.
 */
const NOTICED_WITHIN_MS = 1000;

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
    for (const { process, atMs } of run.ends) {
      if (atMs > untilMs) continue; // All its data had come to its end.
      const before = this.#lastEndMs.get(process) ?? Number.NEGATIVE_INFINITY;
      this.#lastEndMs.set(process, Math.max(before, atMs));
    }
  }

  /** Whether a tuple that was emitted then may have been lost between the tasks. */
  explains(from: TaskId, to: TaskId, emittedAtMs: number): boolean {
    const { explanation } = this.#run;
    const hasEnd = this.#places.wayOf(from, to).some((process) => {
      const endMs = this.#lastEndMs.get(process);
      return endMs !== undefined && endMs + NOTICED_WITHIN_MS >= emittedAtMs;
    });
    return (
      this.#isDropping ||
      hasEnd ||
      this.#isToEnded(from, to, emittedAtMs) ||
      explanation.explainsLoss({ from, to, emittedAtMs })
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

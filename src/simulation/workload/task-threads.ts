import { assertDefined } from '../../base/assert.ts';
import type { TaskId } from '../../base/ids.ts';

/** What user code does to the thread that it runs on. */
export interface TaskThread {
  /** The code that runs now takes so many milliseconds: nothing else happens on its thread. */
  spend(ms: number): void;
}

/**
 * How user code finds its thread. Connected by whoever runs the workload; until then user code
 * takes no time.
 */
export class TaskThreads {
  #threadOf: ((task: TaskId) => TaskThread | undefined) | undefined;

  connect(threadOf: (task: TaskId) => TaskThread | undefined): void {
    this.#threadOf = threadOf;
  }

  /** A slow computation, or, when it is long, code that hangs. */
  spend(task: TaskId, ms: number): void {
    if (this.#threadOf === undefined || ms <= 0) return;
    assertDefined(this.#threadOf(task), `task ${task} has a thread while its code runs`).spend(ms);
  }
}

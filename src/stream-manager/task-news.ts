import { type Epoch, epoch, type TaskId } from '../base/ids.ts';

/** What a heartbeat says of the tasks of this container. */
export interface NewsOfTasks {
  readonly endedTaskIds: number[];
  /** By which plan each of them has ended. */
  readonly endedPlanEpochs: bigint[];
  readonly lostTasks: { readonly taskId: number; readonly lostAt: bigint }[];
  readonly retiredTaskIds: number[];
  readonly planEpoch: bigint;
}

/**
 * What the topology master has to know of the tasks of this container, as state: it is all said
 * again and again, so that a master that has just started knows it, too.
 *
 * W1. A task that has left the plan has neither ended nor retired any more. Its loss stays: that
 *     may have cost tuples.
 */
export class TaskNews {
  /** Grows with all that a master should hear at once. */
  version = 0;
  readonly #ended = new Map<TaskId, Epoch>();
  readonly #retired = new Set<TaskId>();
  /** When the instance of a task was first lost, by the wall clock. */
  readonly #lost = new Map<TaskId, number>();
  #planEpoch = epoch(0);

  /** A plan is in force that has these tasks of this container. */
  planInForce(planEpoch: Epoch, tasks: ReadonlySet<TaskId>): void {
    this.#planEpoch = planEpoch;
    for (const told of [this.#ended, this.#retired]) {
      for (const task of told.keys()) if (!tasks.has(task)) told.delete(task);
    }
    this.version += 1;
  }

  ended(task: TaskId): void {
    if (!this.#ended.has(task)) this.#ended.set(task, this.#planEpoch);
    this.version += 1;
  }

  retired(task: TaskId): void {
    this.#retired.add(task);
    this.version += 1;
  }

  /** The first loss counts. It is soon enough to say so with the next heartbeat. */
  lost(task: TaskId, atMs: number): void {
    if (!this.#lost.has(task)) this.#lost.set(task, Math.floor(atMs));
  }

  get all(): NewsOfTasks {
    return {
      endedTaskIds: [...this.#ended.keys()],
      endedPlanEpochs: Array.from(this.#ended.values(), BigInt),
      lostTasks: Array.from(this.#lost, ([taskId, atMs]) => ({ taskId, lostAt: BigInt(atMs) })),
      retiredTaskIds: [...this.#retired],
      planEpoch: BigInt(this.#planEpoch),
    };
  }
}

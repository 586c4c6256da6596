import type { TaskId } from '../base/ids.ts';
import type { DestinationHoldings } from './data-holdings.ts';
import type { LocalDestination } from './local-destination.ts';
import type { LocalSource } from './local-source.ts';

/** One task of this container, which outlives the connections of its instance. */
export interface LocalTask {
  readonly source: LocalSource;
  readonly destination: LocalDestination;
  /** Whether the plan in force has it; LocalTasks sets it. */
  isPlanned: boolean;
}

/**
 * The tasks of this container.
 *
 * L1. A task is here from the moment that its instance may register, which is before the first plan
 *     that has it: other stream managers may know that plan before we do, and send.
 * L2. A task that has left the plan is gone at once, though its instance may still be connected. It
 *     is here again, as one without a plan, if that instance registers anew.
 * L3. A task that no plan has had is gone when its instance is not expected any more.
 */
export class LocalTasks {
  readonly #create: (task: TaskId) => LocalTask;
  readonly #tasks = new Map<TaskId, LocalTask>();
  #expected: ReadonlySet<TaskId> = new Set();

  constructor(create: (task: TaskId) => LocalTask) {
    this.#create = create;
  }

  has(task: TaskId): boolean {
    return this.#tasks.has(task);
  }

  get(task: TaskId): LocalTask | undefined {
    return this.#tasks.get(task);
  }

  get holdings(): readonly DestinationHoldings[] {
    return Array.from(this.#tasks.values(), ({ destination }) => {
      const { task, unconsumedBytes, waitingBytes } = destination;
      return { task, unconsumedBytes, waitingBytes };
    });
  }

  /** Its instance registers. */
  register(task: TaskId): LocalTask {
    const known = this.#tasks.get(task);
    if (known !== undefined) return known;
    const made = this.#create(task);
    this.#tasks.set(task, made);
    return made;
  }

  /** The tasks whose instances may register from now on (L1, L3). */
  expect(tasks: ReadonlySet<TaskId>): void {
    const before = this.#expected;
    this.#expected = tasks;
    for (const task of tasks) if (!before.has(task)) this.register(task);
    for (const task of before) {
      if (!tasks.has(task) && this.#tasks.get(task)?.isPlanned === false) this.#close(task);
    }
  }

  /** The tasks that the plan in force places here (L2). */
  plan(tasks: readonly TaskId[]): void {
    const planned = new Set(tasks);
    for (const [task, { isPlanned }] of this.#tasks) {
      if (isPlanned && !planned.has(task)) this.#close(task);
    }
    for (const task of tasks) this.register(task).isPlanned = true;
  }

  #close(task: TaskId): void {
    const known = this.#tasks.get(task);
    if (known === undefined) return;
    this.#tasks.delete(task);
    known.source.disconnect();
    known.destination.close();
  }
}

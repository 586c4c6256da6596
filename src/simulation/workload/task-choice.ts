import type { CustomGrouping, GroupedStream } from '../../api/custom-grouping.ts';
import type { TopologyContext } from '../../api/topology-context.ts';

/**
 * The tasks that a tuple goes to where a workload says so itself, and not the engine: as many as
 * there are to be copies, from one on that follows from the tuple's number.
 */
export function chosenTasks<Task extends number>(
  tuple: number,
  tasks: readonly Task[],
  copies = 1,
): readonly Task[] {
  const first = (Math.imul(tuple, 0x9e37_79b1) >>> 8) % tasks.length;
  return [...tasks.slice(first), ...tasks.slice(0, first)].slice(0, copies);
}

/** The custom grouping of all workloads; the first value of a tuple is its number. */
export class WorkloadGrouping implements CustomGrouping {
  readonly #copies: number;
  #tasks: readonly number[] = [];

  constructor(copies: number) {
    this.#copies = copies;
  }

  prepare(_context: TopologyContext, { targetTasks }: GroupedStream): void {
    this.#tasks = targetTasks;
  }

  chooseTasks([tuple]: readonly unknown[]): readonly number[] {
    return chosenTasks(Number(tuple), this.#tasks, this.#copies);
  }
}

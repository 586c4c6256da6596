import type { ComponentName, StreamName } from '../base/ids.ts';
import type { TopologyContext } from './topology-context.ts';

/** What a custom grouping shares out: one stream, among the tasks of one bolt. */
export interface GroupedStream {
  readonly component: ComponentName;
  readonly stream: StreamName;
  /** The bolt's tasks in ascending order. */
  readonly targetTasks: readonly number[];
}

/**
 * A grouping of the author's own. It runs inside the task that emits, which has one of its own for
 * each bolt that reads the stream by it, on the thread of the component.
 *
 * `Values` are the values of the stream in the declared order.
 *
 * @example
 * ```ts
 * class ByRegion implements CustomGrouping<readonly [region: number]> {
 *   #tasks: readonly number[] = [];
 *
 *   prepare(_context: TopologyContext, { targetTasks }: GroupedStream): void {
 *     this.#tasks = targetTasks;
 *   }
 *
 *   chooseTasks([region]: readonly [number]): readonly number[] {
 *     return this.#tasks.slice(region, region + 1);
 *   }
 * }
 * ```
 */
export interface CustomGrouping<Values extends readonly unknown[] = readonly unknown[]> {
  /** Called before the component's `open` or `prepare`, and again when the tasks have changed. */
  prepare(context: TopologyContext, stream: GroupedStream): void;

  /**
   * The tasks that get a tuple: any number of `targetTasks`, none of them too. Called inside
   * `emit`; what it throws, `emit` throws.
   */
  chooseTasks(values: Values): readonly number[];
}

/** A custom grouping as the builder keeps it. */
export interface DeclaredCustomGrouping {
  readonly component: ComponentName;
  readonly stream: StreamName;
  readonly bolt: ComponentName;
  readonly make: () => CustomGrouping;
}

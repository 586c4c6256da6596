import { assertDefined } from '../base/assert.ts';
import type { TaskId } from '../base/ids.ts';
import type { Destinations } from './destinations.ts';
import type { ConsumerGrouping } from './consumer-grouping.ts';

/** The task with the smallest id gets everything. Heron calls it LOWEST. */
export class GlobalGrouping implements ConsumerGrouping {
  readonly fixedTasks: readonly TaskId[];
  readonly #task: TaskId;

  /** `tasks` ascend. */
  constructor(tasks: readonly TaskId[]) {
    this.#task = assertDefined(tasks[0], 'a consumer has at least one task');
    this.fixedTasks = [this.#task];
  }

  addDestinations(_tuple: unknown, into: Destinations): void {
    into.add(this.#task);
  }
}

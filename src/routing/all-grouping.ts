import type { TaskId } from '../base/ids.ts';
import type { Destinations } from './destinations.ts';
import type { ConsumerGrouping } from './consumer-grouping.ts';

/** Every task gets a copy. */
export class AllGrouping implements ConsumerGrouping {
  readonly fixedTasks: readonly TaskId[];

  constructor(tasks: readonly TaskId[]) {
    this.fixedTasks = tasks;
  }

  addDestinations(_tuple: unknown, into: Destinations): void {
    for (const task of this.fixedTasks) into.add(task);
  }
}

import type { TaskId } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { Destinations } from './destinations.ts';
import type { ConsumerGrouping } from './consumer-grouping.ts';

/**
 * Round robin from a random start, so that many emitters do not all begin with the same task. The
 * position is shared by all local emitters of the stream. Heron's SHUFFLE and NONE.
 */
export class ShuffleGrouping implements ConsumerGrouping {
  readonly #tasks: Int32Array;
  #next: number;

  constructor(tasks: readonly TaskId[], random: Random) {
    this.#tasks = Int32Array.from(tasks);
    this.#next = random.below(tasks.length);
  }

  addDestinations(_tuple: unknown, into: Destinations): void {
    const at = this.#next;
    this.#next = at + 1 === this.#tasks.length ? 0 : at + 1;
    into.add(this.#tasks[at] as number);
  }
}

import { Spout } from '../../api/spout.ts';
import type { TopologyContext } from '../../api/topology-context.ts';
import { SpoutWork } from './spout-work.ts';
import { fieldsOf } from './stream-fields.ts';
import type { SpoutDescription } from './workload-description.ts';
import type { WorkloadTaskOptions } from './workload-task.ts';

/** A spout class of a workload. */
export function spoutClass(
  description: SpoutDescription,
  surroundings: Omit<WorkloadTaskOptions, 'emit' | 'streams' | 'faults'>,
): new () => Spout {
  const { withMessageIds } = description;

  class WorkloadSpout extends Spout.of(fieldsOf(description.streams)) {
    readonly #work = new SpoutWork(description, {
      ...surroundings,
      ...description,
      emit: (stream, values, tuple) =>
        this.emit(stream, values, withMessageIds ? tuple : undefined),
    });

    override open(context: TopologyContext): void {
      this.#work.task.open(context);
    }

    nextTuple(): unknown {
      if (!this.#work.isAtEnd) return this.#work.emitNext();
      this.#work.task.end();
      this.endOfInput();
      return undefined;
    }

    override deactivate(): void {
      this.#work.rest();
    }

    override close(): void {
      this.#work.rest();
    }
  }
  return WorkloadSpout;
}

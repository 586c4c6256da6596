import { Spout } from '../../api/spout.ts';
import type { TopologyContext } from '../../api/topology-context.ts';
import { SpoutWork } from './spout-work.ts';
import { fieldsOf } from './stream-fields.ts';
import type { SpoutDescription } from './workload-description.ts';
import type { WorkloadTaskOptions } from './workload-task.ts';

/** A spout class of a workload. */
export function spoutClass(
  description: SpoutDescription,
  surroundings: Omit<WorkloadTaskOptions, 'send' | 'streams' | 'faults'>,
): new () => Spout {
  const { withMessageIds } = description;

  class WorkloadSpout extends Spout.of(fieldsOf(description.streams)) {
    readonly #work = new SpoutWork(description, {
      ...surroundings,
      ...description,
      send: ({ stream, values, tuple, task }) => {
        const messageId = withMessageIds ? tuple : undefined;
        if (task === undefined) this.emit(stream, values, messageId);
        else this.emitDirect(task, stream, values, messageId);
      },
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

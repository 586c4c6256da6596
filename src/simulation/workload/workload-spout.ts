import { Spout } from '../../api/spout.ts';
import type { TopologyContext } from '../../api/topology-context.ts';
import type { FailReason } from '../../model/fail-reason.ts';
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
        if (withMessageIds) this.#work.sent(tuple);
      },
    });
    #hasSaidEnd = false;

    override open(context: TopologyContext): void {
      this.#work.task.open(context);
      this.#work.begin();
    }

    nextTuple(): unknown {
      this.#work.called();
      if (this.#work.isRetiring) return this.#work.emitLeftovers();
      if (this.#hasSaidEnd) return this.#work.emitWhatFailed();
      if (!this.#work.isAtEnd) return this.#work.emitNext();
      this.#hasSaidEnd = true;
      this.endOfInput();
      this.#work.saidEnd();
      return undefined;
    }

    override ack(messageId: unknown): void {
      this.#work.acked(Number(messageId));
    }

    override fail(messageId: unknown, reason: FailReason): void {
      this.#work.failed(Number(messageId), reason);
    }

    override update(): void {
      this.#work.update();
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

import { Spout } from '../../api/spout.ts';
import type { TopologyContext } from '../../api/topology-context.ts';
import { delay } from '../../base/clock.ts';
import { assertDefined, unreachable } from '../../base/assert.ts';
import { fieldsOf } from './stream-fields.ts';
import type { SpoutDescription } from './workload-description.ts';
import { WorkloadTask, type WorkloadTaskOptions } from './workload-task.ts';

const INPUT = 'input';

/**
 * A spout class of a workload. How far its input is read is kept in the ledger, as in a queue
 * outside of the topology: a spout that is started again goes on behind what it has emitted.
 */
export function spoutClass(
  description: SpoutDescription,
  surroundings: Omit<WorkloadTaskOptions, 'emit' | 'streams' | 'faults'>,
): new () => Spout {
  const { pace, tuples, withMessageIds } = description;
  const outputs = fieldsOf(description.streams);

  class WorkloadSpout extends Spout.of(outputs) {
    readonly #task = new WorkloadTask({
      ...surroundings,
      ...description,
      emit: (stream, values, tuple) =>
        this.emit(stream, values, withMessageIds ? tuple : undefined),
    });
    #dueMs = 0;
    #isDue = true;
    #isStarted = false;

    override open(context: TopologyContext): void {
      this.#task.open(context);
    }

    nextTuple(): unknown {
      if (this.#isAtEnd) {
        this.#task.end();
        this.endOfInput();
        return undefined;
      }
      switch (pace.kind) {
        case 'flood':
          return this.#emitSome(pace.perCall);
        case 'burst':
          return this.#emitBurst(pace.size, pace.pauseMs);
        case 'trickle':
          return this.#emitWhenWoken(pace.everyMs);
        case 'awaited':
          return this.#emitLater(pace.everyMs);
        case 'timer':
          return this.#startTimer(pace.everyMs);
        default:
          return unreachable(pace);
      }
    }

    override deactivate(): void {
      this.#task.cancelTimers();
      this.#isDue = true;
      this.#isStarted = false;
    }

    override close(): void {
      this.#task.cancelTimers();
    }

    get #isAtEnd(): boolean {
      return this.#task.ledger.counted(INPUT, this.#task.life.task) >= tuples;
    }

    #emitOne(): void {
      this.#task.begin({ isSurvived: false });
      const turn = this.#task.ledger.count(INPUT, this.#task.life.task);
      const { streams } = description;
      this.#task.emit(assertDefined(streams[turn % streams.length], 'a spout has streams'));
    }

    #emitSome(count: number): void {
      for (let left = count; left > 0 && !this.#isAtEnd; left -= 1) this.#emitOne();
    }

    #emitBurst(size: number, pauseMs: number): void {
      const nowMs = this.#task.context.clock.now();
      if (nowMs < this.#dueMs) return;
      this.#dueMs = nowMs + pauseMs;
      this.#emitSome(size);
    }

    #emitWhenWoken(everyMs: number): void {
      if (!this.#isDue) return;
      this.#isDue = false;
      this.#emitOne();
      this.#task.after(everyMs, () => {
        this.#isDue = true;
        this.#task.context.wake();
      });
    }

    async #emitLater(everyMs: number): Promise<void> {
      await delay(this.#task.context.clock, everyMs);
      this.#emitOne();
    }

    /** What a timer throws ends the process, as it does in a user's own code. */
    #startTimer(everyMs: number): void {
      if (this.#isStarted) return;
      this.#isStarted = true;
      const tick = (): void => {
        if (!this.#isAtEnd) this.#emitOne();
        if (this.#isAtEnd) this.#task.context.wake();
        else this.#task.after(everyMs, tick);
      };
      this.#task.after(everyMs, tick);
    }
  }
  return WorkloadSpout;
}

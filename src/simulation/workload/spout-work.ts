import { delay } from '../../base/clock.ts';
import { assertDefined, unreachable } from '../../base/assert.ts';
import type { SpoutDescription } from './workload-description.ts';
import { WorkloadTask, type WorkloadTaskOptions } from './workload-task.ts';

const INPUT = 'input';

/**
 * What a spout of a workload does. How far its input is read is kept in the ledger, as in a queue
 * outside of the topology: a spout that is started again goes on behind what it has emitted.
 */
export class SpoutWork {
  readonly task: WorkloadTask;
  readonly #description: SpoutDescription;
  #dueMs = 0;
  #isDue = true;
  #isStarted = false;

  constructor(description: SpoutDescription, options: WorkloadTaskOptions) {
    this.task = new WorkloadTask(options);
    this.#description = description;
  }

  get isAtEnd(): boolean {
    return this.task.ledger.counted(INPUT, this.task.life.task) >= this.#description.tuples;
  }

  /** What `nextTuple` does while there is input. */
  emitNext(): unknown {
    const { pace } = this.#description;
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

  /** The topology is paused: the next call of `nextTuple` begins anew. */
  rest(): void {
    this.task.cancelTimers();
    this.#isDue = true;
    this.#isStarted = false;
  }

  #emitOne(): void {
    this.task.begin({ isSurvived: false });
    const turn = this.task.ledger.count(INPUT, this.task.life.task);
    const { streams } = this.#description;
    this.task.emit(assertDefined(streams[turn % streams.length], 'a spout has streams'));
  }

  #emitSome(count: number): void {
    for (let left = count; left > 0 && !this.isAtEnd; left -= 1) this.#emitOne();
  }

  #emitBurst(size: number, pauseMs: number): void {
    const nowMs = this.task.context.clock.now();
    if (nowMs < this.#dueMs) return;
    this.#dueMs = nowMs + pauseMs;
    this.#emitSome(size);
  }

  #emitWhenWoken(everyMs: number): void {
    if (!this.#isDue) return;
    this.#isDue = false;
    this.#emitOne();
    this.task.after(everyMs, () => {
      this.#isDue = true;
      this.task.context.wake();
    });
  }

  async #emitLater(everyMs: number): Promise<void> {
    await delay(this.task.context.clock, everyMs);
    this.#emitOne();
  }

  /** What a timer throws ends the process, as it does in a user's own code. */
  #startTimer(everyMs: number): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const tick = (): void => {
      if (!this.isAtEnd) this.#emitOne();
      if (this.isAtEnd) this.task.context.wake();
      else this.task.after(everyMs, tick);
    };
    this.task.after(everyMs, tick);
  }
}

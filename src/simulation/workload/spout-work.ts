import { delay } from '../../base/clock.ts';
import { assertDefined, unreachable } from '../../base/assert.ts';
import type { FailReason } from '../../model/fail-reason.ts';
import type { ReplaySource } from './replay-source.ts';
import type { ReplayDescription, SpoutDescription } from './workload-description.ts';
import { WorkloadTask, type WorkloadTaskOptions } from './workload-task.ts';

const INPUT = 'input';

/**
 * What a spout of a workload does. How far its input is read is kept in the ledger, as in a queue
 * outside of the topology: a spout that is started again goes on behind what it has emitted.
 */
export class SpoutWork {
  readonly task: WorkloadTask;
  readonly #description: SpoutDescription;
  readonly #options: WorkloadTaskOptions;
  /** Messages that are neither acked nor failed. */
  #pending = 0;
  #dueMs = 0;
  #isDue = true;
  #isStarted = false;
  #isRetiring = false;

  constructor(description: SpoutDescription, options: WorkloadTaskOptions) {
    this.task = new WorkloadTask(options);
    this.#options = options;
    this.#description = description;
  }

  get isAtEnd(): boolean {
    const { replay } = this.#description;
    if (replay !== undefined) return replay.endsEarly ? this.#source.isRead : this.#isSettled;
    return this.task.ledger.counted(INPUT, this.task.life.task) >= this.#description.tuples;
  }

  /** To be called when the component is opened. */
  begin(): void {
    if (this.#description.replay !== undefined) this.#source.begin();
    this.#noteRetirement(); // The first plan that it sees may take it away.
  }

  /** An update takes the task away: it reads no more of its input. */
  get isRetiring(): boolean {
    return this.#isRetiring;
  }

  /** The component is told of another plan. */
  update(): void {
    this.task.look();
    this.#noteRetirement();
  }

  #noteRetirement(): void {
    if (!this.task.context.isRetiring || this.#isRetiring) return;
    this.#isRetiring = true;
    this.rest();
    this.#endWhenSettled();
  }

  /** What has failed, and nothing that has not been read yet. */
  emitLeftovers(): void {
    if (this.#description.replay === undefined) return;
    while (this.#source.hasWaiting) this.#emitOne();
  }

  /** `nextTuple` is called. */
  called(): void {
    const { pendingMax } = this.#options;
    if (pendingMax === undefined || this.#pending < pendingMax) return;
    const { task, component } = this.task.life;
    this.task.ledger.trees.exceed(
      `nextTuple of task ${task} of ${component} was called with ${this.#pending} messages pending`,
    );
  }

  /** A tuple was emitted with its number as message id. */
  sent(tuple: number): void {
    this.#pending += 1;
    this.task.ledger.trees.emit(this.task.life, tuple);
  }

  /** The input has been said to end. */
  saidEnd(): void {
    if (this.#description.replay?.endsEarly !== true || this.#isSettled) this.task.end();
  }

  acked(tuple: number): void {
    this.#note(tuple, undefined);
    if (this.#description.replay !== undefined) this.#source.acked(tuple);
    this.#endWhenSettled();
  }

  failed(tuple: number, reason: FailReason): void {
    const { replay } = this.#description;
    this.#note(tuple, reason);
    if (replay !== undefined) this.#emitAgain(tuple, replay);
    this.#endWhenSettled();
  }

  /** What `nextTuple` does after it has said that its input has ended. */
  emitWhatFailed(): void {
    const { replay } = this.#description;
    if (replay?.endsEarly === true) while (this.#source.hasNext) this.#emitOne();
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
    if (this.#description.replay !== undefined) this.#source.releaseAll();
    this.#isDue = true;
    this.#isStarted = false;
  }

  #emitOne(): void {
    this.task.begin({ isSurvived: false });
    if (this.#description.replay !== undefined) this.#emitRecord();
    else this.#emitTurn(this.task.ledger.count(INPUT, this.task.life.task));
  }

  #emitTurn(turn: number): number {
    const { streams } = this.#description;
    return this.task.emit(assertDefined(streams[turn % streams.length], 'a spout has streams'));
  }

  #emitRecord(): void {
    const source = this.#source;
    const taken = source.take();
    if (taken === undefined) return;
    const { ledger, life } = this.task;
    if (taken.isNew) ledger.count(INPUT, life.task);
    try {
      source.sent(taken.record, this.#emitTurn(taken.record + 1));
    } catch (error) {
      source.putBack(taken.record);
      throw error;
    }
  }

  #emitAgain(tuple: number, { failuresMax, afterMs }: ReplayDescription): void {
    const source = this.#source;
    const record = source.failed(tuple, failuresMax);
    if (record === undefined) return;
    if (afterMs === 0) {
      source.release(record);
      return;
    }
    this.task.after(afterMs, () => {
      source.release(record);
      this.task.context.wake();
    });
  }

  get #source(): ReplaySource {
    return this.task.ledger.trees.source(this.task.life.task, this.#description.tuples);
  }

  get #isSettled(): boolean {
    return this.#source.isSettled;
  }

  #note(tuple: number, reason: FailReason | undefined): void {
    this.#pending -= 1;
    this.task.ledger.trees.callback(this.task.life, tuple, reason);
  }

  /** The end is there when the last message is settled, however early it was announced. */
  #endWhenSettled(): void {
    if (this.#isRetiring && this.#pending === 0) this.task.end();
    if (this.#description.replay?.endsEarly === true && this.#isSettled) this.task.end();
  }

  #emitSome(count: number): void {
    for (let left = count; left > 0 && this.#hasInput; left -= 1) this.#emitOne();
  }

  /** Something to emit now. */
  get #hasInput(): boolean {
    return this.#description.replay === undefined ? !this.isAtEnd : this.#source.hasNext;
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

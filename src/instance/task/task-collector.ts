import type { AnySpout } from '../../api/component-runtime.ts';
import type { Collector } from '../../api/collector.ts';
import type { Counter } from '../../metrics/metrics-registry.ts';
import type { TaskCounters } from './task-counters.ts';
import type { TupleOutput } from './tuple-output.ts';
import type { UserCalls } from './user-calls.ts';

/** How a stream of this component leaves: its counter, and whether anybody reads it. */
export interface CollectedStream {
  readonly isRead: boolean;
  readonly emitCount: Counter;
}

export interface TaskCollectorOptions {
  readonly output: TupleOutput;
  /** By stream index. */
  readonly streams: readonly CollectedStream[];
  readonly counters: TaskCounters;
  readonly onError: (error: unknown) => void;
  readonly onEndOfInput: () => void;
}

/**
 * Where a component's calls end up.
 *
 * K1. Tuples for a stream that nobody reads are counted and go no further.
 * K2. Under at most once a message id is settled by being emitted: its `ack` is called when the
 *     component's current call is over, in the order of the emits.
 */
export class TaskCollector implements Collector {
  /** The spout has said that nothing more will come. */
  inputEnded = false;
  readonly #options: TaskCollectorOptions;
  readonly #streams: readonly CollectedStream[];
  readonly #output: TupleOutput;
  #settled: unknown[] = [];

  constructor(options: TaskCollectorOptions) {
    this.#options = options;
    this.#streams = options.streams;
    this.#output = options.output;
  }

  emit(
    streamIndex: number,
    values: readonly unknown[],
    _anchors: unknown,
    messageId: unknown,
  ): void {
    const stream = this.#streams[streamIndex] as CollectedStream;
    if (stream.isRead) this.#output.emit(streamIndex, values);
    else this.#output.emitted += 1;
    stream.emitCount.value += 1;
    if (messageId !== undefined) this.#settled.push(messageId);
  }

  ack(): void {
    this.#options.counters.acked.value += 1;
  }

  fail(): void {
    this.#options.counters.failed.value += 1;
  }

  reportError(error: unknown): void {
    this.#options.onError(error);
  }

  endOfInput(): void {
    this.inputEnded = true;
    this.#options.onEndOfInput();
  }

  get hasSettled(): boolean {
    return this.#settled.length > 0;
  }

  /** Calls `ack` for every message id that was emitted (K2). */
  async settleMessages(spout: AnySpout, calls: UserCalls): Promise<void> {
    while (this.#settled.length > 0) {
      const ids = this.#settled;
      this.#settled = [];
      for (const id of ids) {
        this.#options.counters.acked.value += 1;
        await calls.call('ack', () => spout.ack(id));
      }
    }
  }
}

import type { Collector } from '../../api/collector.ts';
import { userError } from '../../base/errors.ts';
import type { Counter } from '../../metrics/metrics-registry.ts';
import type { GroupingFields } from './grouping-fields.ts';
import type { TaskCounters } from './task-counters.ts';
import type { TupleOutput } from './tuple-output.ts';

/** How a stream of this component leaves: whether anybody reads it, how, and its counter. */
export interface CollectedStream {
  readonly isRead: boolean;
  readonly groupingFields: GroupingFields;
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
 * K3. What is emitted when the task has ended already, from a timer or a promise that nobody waited
 *     for, is lost: the tasks downstream may have ended too. The first of them is reported.
 */
export class TaskCollector implements Collector {
  /** The spout has said that nothing more will come. */
  inputEnded = false;
  readonly #options: TaskCollectorOptions;
  readonly #streams: readonly CollectedStream[];
  readonly #output: TupleOutput;
  readonly #settled: unknown[] = [];
  #hasEnded = false;
  #lateEmits = 0;

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
    if (this.#hasEnded) {
      this.#reportLateEmit();
      return;
    }
    const stream = this.#streams[streamIndex] as CollectedStream;
    if (stream.isRead) {
      stream.groupingFields.check(values);
      this.#output.emit(streamIndex, values);
    } else this.#output.emitted += 1;
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

  /** The task's end marker is written (K3). */
  end(): void {
    this.#hasEnded = true;
  }

  get hasSettled(): boolean {
    return this.#settled.length > 0;
  }

  /** The next message id to be acked (K2); there must be one. */
  takeSettled(): unknown {
    this.#options.counters.acked.value += 1;
    return this.#settled.shift();
  }

  #reportLateEmit(): void {
    this.#lateEmits += 1;
    if (this.#lateEmits > 1) return;
    this.#options.onError(
      userError(
        'COMPONENT_FAILED',
        'a tuple was emitted after the end of the task, and is lost: what is still under way at ' +
          'the end must be awaited in finish',
      ),
    );
  }
}

import type { Collector } from '../../api/collector.ts';
import { isTick } from '../../api/tick.ts';
import type { AnyTuple } from '../../api/tuple.ts';
import { userError } from '../../base/errors.ts';
import type { ComponentName } from '../../base/ids.ts';
import type { OutputStream } from '../../model/logical-topology.ts';
import type { Counter } from '../../metrics/metrics-registry.ts';
import { type ChosenTasks, notDirect } from './chosen-tasks.ts';
import type { GroupingFields } from './grouping-fields.ts';
import type { SentValues } from './sent-values.ts';
import type { TaskCounters } from './task-counters.ts';
import type { TaskHooks } from './task-hooks.ts';
import type { TupleOutput } from './tuple-output.ts';

/** How a stream of this component leaves: whether anybody reads it, how, and its counter. */
export interface CollectedStream {
  readonly output: OutputStream;
  readonly isRead: boolean;
  /** Undefined where stream managers choose all tasks. */
  readonly chosenTasks: ChosenTasks | undefined;
  readonly groupingFields: GroupingFields;
  readonly sentValues: SentValues;
  readonly emitCount: Counter;
}

export interface TaskCollectorOptions {
  readonly component: ComponentName;
  readonly output: TupleOutput;
  /** By stream index. */
  readonly streams: readonly CollectedStream[];
  readonly counters: TaskCounters;
  readonly hooks: TaskHooks;
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
  /** There are hooks. */
  isWatched = false;
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
    let tasks: readonly number[] | undefined;
    if (!stream.isRead) this.#output.emitted += 1;
    else {
      const sent = stream.sentValues.of(values);
      stream.groupingFields.check(sent);
      tasks = stream.chosenTasks?.choose(values);
      this.#send(stream, streamIndex, sent, tasks);
    }
    stream.emitCount.value += 1;
    if (this.isWatched) this.#options.hooks.emitted(stream.output.stream, values, tasks);
    if (messageId !== undefined) this.#settled.push(messageId);
  }

  emitDirect(
    task: number,
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
    const { output, chosenTasks, emitCount, sentValues } = stream;
    if (chosenTasks === undefined) throw notDirect(this.#options.component, output.stream);
    chosenTasks.checkDirect(task);
    this.#send(stream, streamIndex, sentValues.of(values), [task]);
    emitCount.value += 1;
    if (this.isWatched) this.#options.hooks.emitted(output.stream, values, [task]);
    if (messageId !== undefined) this.#settled.push(messageId);
  }

  /** A tick is nothing that anybody waits for. */
  ack(tuple: AnyTuple): void {
    if (isTick(tuple)) return;
    this.#options.counters.acked.value += 1;
    if (this.isWatched) this.#options.hooks.acked(tuple);
  }

  fail(tuple: AnyTuple, reason: unknown): void {
    if (isTick(tuple)) return;
    this.#options.counters.failed.value += 1;
    if (this.isWatched) this.#options.hooks.failed(tuple, reason);
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

  #send(
    { sentValues }: CollectedStream,
    streamIndex: number,
    values: readonly unknown[],
    tasks: readonly number[] | undefined,
  ): void {
    try {
      this.#output.emit(streamIndex, values, tasks);
    } catch (error) {
      throw sentValues.refusal(error, values);
    }
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

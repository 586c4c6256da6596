import type { Collector } from '../../api/collector.ts';
import type { GivenUpMessage } from '../../api/given-up-message.ts';
import type { AnyTuple } from '../../api/tuple.ts';
import type { Clock } from '../../base/clock.ts';
import { userError } from '../../base/errors.ts';
import type { ComponentName } from '../../base/ids.ts';
import type { OutputStream } from '../../model/logical-topology.ts';
import type { Sample, SampleWish } from '../../model/sample.ts';
import type { Counter } from '../../metrics/metrics-registry.ts';
import type { Roots } from '../../wire/fail-detail.ts';
import { type ChosenTasks, notDirect } from './chosen-tasks.ts';
import type { GroupingFields } from './grouping-fields.ts';
import type { SentValues } from './sent-values.ts';
import type { TaskCounters } from './task-counters.ts';
import type { TaskHooks } from './task-hooks.ts';
import type { TupleOutput } from './tuple-output.ts';
import { type EmittedTuple, TupleSampler } from './tuple-sampler.ts';

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

export interface CollectorOptions {
  readonly component: ComponentName;
  readonly output: TupleOutput;
  /** By stream index. */
  readonly streams: readonly CollectedStream[];
  readonly counters: TaskCounters;
  readonly hooks: TaskHooks;
  readonly onError: (error: unknown) => void;
  readonly onEndOfInput: () => void;
  readonly deadLetter: (message: GivenUpMessage) => Promise<void>;
}

/** What has become of a tuple. */
export type SendOutcome = 'sent' | 'unread' | 'too-late';

/**
 * Where a component's calls end up; what message ids and anchors mean is for subclasses to say.
 *
 * K1. Tuples for a stream that nobody reads are counted and go no further.
 * K3. What is emitted when the task has ended already, from a timer or a promise that nobody waited
 *     for, is lost: the tasks downstream may have ended too. The first of them is reported.
 * K4. While nobody watches, watching costs one look at a field for each tuple (bench/emit.ts).
 */
export abstract class ComponentCollector implements Collector {
  /** The spout has said that nothing more will come. */
  inputEnded = false;
  /** There are hooks, or a sample is being taken. */
  isWatched = false;
  protected readonly options: CollectorOptions;
  readonly #streams: readonly CollectedStream[];
  readonly #output: TupleOutput;
  #sampler: TupleSampler | undefined;
  #hasEnded = false;
  #lateEmits = 0;

  constructor(options: CollectorOptions) {
    this.options = options;
    this.#streams = options.streams;
    this.#output = options.output;
  }

  abstract emit(
    streamIndex: number,
    values: readonly unknown[],
    anchors: readonly AnyTuple[] | undefined,
    messageId: unknown,
  ): void;

  abstract emitDirect(
    task: number,
    streamIndex: number,
    values: readonly unknown[],
    anchors: readonly AnyTuple[] | undefined,
    messageId: unknown,
  ): void;

  abstract ack(tuple: AnyTuple): void;

  abstract fail(tuple: AnyTuple, reason: unknown): void;

  reportError(error: unknown): void {
    this.options.onError(error);
  }

  endOfInput(): void {
    this.inputEnded = true;
    this.options.onEndOfInput();
  }

  deadLetter(message: GivenUpMessage): Promise<void> {
    return this.options.deadLetter(message);
  }

  /**
   * The next tuples that are emitted (K4).
   *
   * @throws EngineError UNKNOWN_STREAM
   */
  async sample(wish: SampleWish, clock: Clock): Promise<Sample> {
    const { promise, resolve } = Promise.withResolvers<Sample>();
    const sampler = new TupleSampler({
      wish,
      outputs: this.#streams.map(({ output }) => output),
      clock,
      onOver: () => {
        this.#sampler = undefined;
        this.isWatched = !this.options.hooks.isEmpty;
        resolve(sampler.sample);
      },
    });
    this.#sampler?.end();
    this.#sampler = sampler;
    this.isWatched = true;
    return promise;
  }

  /** The task's end marker is written (K3). */
  end(): void {
    this.#hasEnded = true;
    this.#sampler?.end();
  }

  /** Whether a tuple of the stream goes anywhere. */
  protected isRead(streamIndex: number): boolean {
    return this.#streams[streamIndex]?.isRead === true;
  }

  /** Sends a tuple to whom the groupings say. Hot. */
  protected send(
    streamIndex: number,
    values: readonly unknown[],
    roots: Roots | undefined,
    messageId?: unknown,
  ): SendOutcome {
    if (this.#hasEnded) return this.#reportLateEmit();
    const stream = this.#streams[streamIndex] as CollectedStream;
    const { isRead } = stream;
    let tasks: readonly number[] | undefined;
    if (!isRead) this.#output.emitted += 1;
    else {
      const sent = stream.sentValues.of(values);
      stream.groupingFields.check(sent);
      tasks = stream.chosenTasks?.choose(values);
      this.#write(stream, streamIndex, sent, tasks, roots);
    }
    stream.emitCount.value += 1;
    if (this.isWatched) this.#tell({ output: stream.output, values, tasks, roots, messageId });
    return isRead ? 'sent' : 'unread';
  }

  /** Sends a tuple to one task. */
  protected sendDirect(
    task: number,
    streamIndex: number,
    values: readonly unknown[],
    roots: Roots | undefined,
    messageId?: unknown,
  ): SendOutcome {
    if (this.#hasEnded) return this.#reportLateEmit();
    const stream = this.#streams[streamIndex] as CollectedStream;
    const { output, chosenTasks, emitCount, sentValues } = stream;
    const tasks = [task];
    if (chosenTasks === undefined) throw notDirect(this.options.component, output.stream);
    chosenTasks.checkDirect(task);
    this.#write(stream, streamIndex, sentValues.of(values), tasks, roots);
    emitCount.value += 1;
    if (this.isWatched) this.#tell({ output, values, tasks, roots, messageId });
    return 'sent';
  }

  #tell(tuple: EmittedTuple): void {
    const { output, values, tasks } = tuple;
    this.#sampler?.take(tuple);
    this.options.hooks.emitted(output.stream, values, tasks);
  }

  #write(
    { sentValues }: CollectedStream,
    streamIndex: number,
    values: readonly unknown[],
    tasks: readonly number[] | undefined,
    roots: Roots | undefined,
  ): void {
    try {
      this.#output.emit(streamIndex, values, tasks, roots);
    } catch (error) {
      throw sentValues.refusal(error, values);
    }
  }

  #reportLateEmit(): 'too-late' {
    this.#lateEmits += 1;
    if (this.#lateEmits === 1) {
      this.options.onError(
        userError(
          'COMPONENT_FAILED',
          'a tuple was emitted after the end of the task, and is lost: what is still under way ' +
            'at the end must be awaited in finish',
        ),
      );
    }
    return 'too-late';
  }
}

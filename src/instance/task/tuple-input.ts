import { type AnyTuple, Tuple, TupleOrigin } from '../../api/tuple.ts';
import { environmentError } from '../../base/errors.ts';
import type { TaskId } from '../../base/ids.ts';
import { taskId } from '../../base/ids.ts';
import type { PlanIndex } from '../../model/plan-index.ts';
import { type StreamHeader, StreamHeaders } from '../../wire/stream-header.ts';
import { TupleSetReader } from '../../wire/tuple-set-reader.ts';
import { ValueReader } from '../../wire/value-reader.ts';
import type { InputCounters, TaskCounters } from './task-counters.ts';

/** What all tuples of one stream share on this side. */
interface KnownStream {
  readonly origin: TupleOrigin;
  readonly counters: InputCounters;
}

/**
 * Turns the bytes of tuple sets into tuples, one at a time.
 *
 * I1. What a tuple holds shares no memory with the bytes it came from.
 */
export class TupleInput {
  readonly #plan: PlanIndex;
  readonly #taskCounters: TaskCounters;
  readonly #reader = new TupleSetReader(new StreamHeaders());
  readonly #values = new ValueReader();
  readonly #streams = new Map<StreamHeader, KnownStream>();
  #known: KnownStream | undefined;
  #sourceTask: TaskId = taskId(0);

  constructor(plan: PlanIndex, taskCounters: TaskCounters) {
    this.#plan = plan;
    this.#taskCounters = taskCounters;
  }

  /** Begins with a set. Throws PACKET_MALFORMED. */
  open(bytes: Uint8Array, start: number, end: number): void {
    this.#reader.open(bytes, start, end);
    this.#values.begin(bytes, start, end);
    this.#sourceTask = taskId(this.#reader.sourceTask);
    const { stream } = this.#reader;
    this.#known = stream === undefined ? undefined : this.#knownStream(stream);
  }

  get sourceTask(): TaskId {
    return this.#sourceTask;
  }

  get endOfInput(): boolean {
    return this.#reader.endOfInput;
  }

  get hasTuples(): boolean {
    return this.#known !== undefined;
  }

  /** Of the stream of the open set, which must have one. */
  get counters(): InputCounters {
    return (this.#known as KnownStream).counters;
  }

  /** The next tuple of the open set. Throws PACKET_MALFORMED. */
  next(): AnyTuple | undefined {
    const known = this.#known;
    if (known === undefined || !this.#reader.next()) return undefined;
    return new Tuple(known.origin, this.#sourceTask, this.#readValues());
  }

  /** Arrays of the right size from the start: one that grows takes 17 places. */
  #readValues(): readonly unknown[] {
    const { valueCount } = this.#reader;
    if (valueCount === 1) return [this.#readValue(0)];
    const values = new Array<unknown>(valueCount);
    for (let index = 0; index < valueCount; index += 1) values[index] = this.#readValue(index);
    return values;
  }

  #readValue(index: number): unknown {
    const reader = this.#reader;
    return this.#values.read(reader.valueStart(index), reader.valueEnd(index));
  }

  #knownStream(header: StreamHeader): KnownStream {
    const known = this.#streams.get(header);
    if (known !== undefined) return known;
    const { component, stream } = header;
    const output = this.#plan
      .component(component)
      ?.outputs.find((declared) => declared.stream === stream);
    if (output === undefined) {
      throw environmentError(
        'UNEXPECTED_MESSAGE',
        `tuples of stream '${stream}' of '${component}' arrived, which the plan does not know`,
      );
    }
    const fresh = {
      origin: new TupleOrigin(component, stream, output.fields),
      counters: this.#taskCounters.input(component, stream),
    };
    this.#streams.set(header, fresh);
    return fresh;
  }
}

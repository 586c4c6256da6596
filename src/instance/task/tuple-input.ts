import type { ValueSerializer } from '../../api/serializer.ts';
import { type AnyTuple, TrackedTuple, Tuple, TupleOrigin } from '../../api/tuple.ts';
import { environmentError, messageOf, userError } from '../../base/errors.ts';
import type { ComponentName, TaskId } from '../../base/ids.ts';
import { taskId } from '../../base/ids.ts';
import type { OutputStream } from '../../model/logical-topology.ts';
import type { PlanIndex } from '../../model/plan-index.ts';
import { hashGroupingKey } from '../../wire/grouping-key.ts';
import { type StreamHeader, StreamHeaders } from '../../wire/stream-header.ts';
import { TupleSetReader } from '../../wire/tuple-set-reader.ts';
import { ValueReader } from '../../wire/value-reader.ts';
import type { InputCounters, TaskCounters } from './task-counters.ts';

/** What all tuples of one stream share on this side. */
interface KnownStream {
  readonly origin: TupleOrigin;
  readonly counters: InputCounters;
  /** Of the fields by which the reading component groups this stream, in the grouping's order. */
  readonly keyPositions: readonly number[];
}

/** What makes tuples of at least once out of plain ones. */
export interface TupleTracking {
  /** Number of the connection that brings what is read now. */
  readonly generation: number;
  /** The moment, in ticks. */
  now(): number;
}

/**
 * Turns the bytes of tuple sets into tuples, one at a time.
 *
 * I1. What a tuple holds shares no memory with the bytes it came from.
 */
export class TupleInput {
  readonly #plan: PlanIndex;
  readonly #taskCounters: TaskCounters;
  readonly #serializer: ValueSerializer | undefined;
  readonly #readerName: ComponentName | undefined;
  readonly #tracking: TupleTracking | undefined;
  /** Filled anew for each tuple. */
  readonly #marks = { keyLow: 0, keyHigh: 0, generation: 0, takenAt: 0 };
  readonly #reader = new TupleSetReader(new StreamHeaders());
  readonly #values = new ValueReader();
  readonly #streams = new Map<StreamHeader, KnownStream>();
  #known: KnownStream | undefined;
  #sourceTask: TaskId = taskId(0);

  /**
   * `reader` is the component that reads; without it no tuple has a key. With `tracking` each tuple
   * knows its trees.
   */
  constructor(
    plan: PlanIndex,
    taskCounters: TaskCounters,
    serializer?: ValueSerializer,
    reader?: ComponentName,
    tracking?: TupleTracking,
  ) {
    this.#plan = plan;
    this.#readerName = reader;
    this.#taskCounters = taskCounters;
    this.#serializer = serializer;
    this.#tracking = tracking;
  }

  /** Begins with a set. Throws PACKET_MALFORMED. */
  open(bytes: Uint8Array, start: number, end: number): void {
    this.#reader.open(bytes, start, end);
    this.#values.begin(bytes, start, end);
    this.#sourceTask = taskId(this.#reader.sourceTask);
    const { stream } = this.#reader;
    this.#known = stream === undefined ? undefined : this.#knownStream(stream);
    if (this.#tracking !== undefined) {
      this.#marks.takenAt = this.#tracking.now();
      this.#marks.generation = this.#tracking.generation;
    }
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

  /** What all tuples of the open set have in common; it must have some. */
  get origin(): TupleOrigin {
    return (this.#known as KnownStream).origin;
  }

  /** The next tuple of the open set. Throws PACKET_MALFORMED, VALUE_NOT_SERIALIZABLE. */
  next(): AnyTuple | undefined {
    const known = this.#known;
    if (known === undefined || !this.#reader.next()) return undefined;
    return this.#tracking === undefined
      ? new Tuple(known.origin, this.#sourceTask, this.#readValues())
      : this.#tracked(known.origin);
  }

  /** The trace of the tuple that was read last, of the bytes of its set; undefined without one. */
  protected get trace(): Uint8Array | undefined {
    const { bytes, traceStart, traceEnd, hasTrace } = this.#reader;
    return hasTrace ? bytes.subarray(traceStart, traceEnd) : undefined;
  }

  #tracked(origin: TupleOrigin): AnyTuple {
    const marks = this.#marks;
    const { keyLow, keyHigh, roots } = this.#reader;
    marks.keyLow = keyLow;
    marks.keyHigh = keyHigh;
    const tuple = new TrackedTuple(origin, this.#sourceTask, this.#readValues(), marks);
    const { count } = roots;
    for (let index = 0; index < count; index += 1) {
      tuple.addRoot(roots.task(index), roots.keyLow(index), roots.keyHigh(index), count);
    }
    return tuple;
  }

  /**
   * The hashes of the grouping fields of the tuple that was read last; undefined for a stream that
   * is not read by a fields grouping. Equal keys have equal ones although their bytes may differ:
   * 0 and -0 are one key.
   */
  get key(): string | undefined {
    const { keyPositions } = this.#known as KnownStream;
    if (keyPositions.length === 0) return undefined;
    const { bytes } = this.#reader;
    return keyPositions
      .map((position) =>
        hashGroupingKey(bytes, this.#reader.valueStart(position), this.#reader.valueEnd(position)),
      )
      .join(' ');
  }

  #keyPositions(component: ComponentName, { stream, fields }: OutputStream): readonly number[] {
    const reader = this.#readerName && this.#plan.component(this.#readerName);
    if (reader === undefined || reader.kind === 'spout') return [];
    const input = reader.inputs.find(
      (candidate) => candidate.component === component && candidate.stream === stream,
    );
    if (input?.grouping.kind !== 'fields') return [];
    return input.grouping.fields.map((field) => fields.indexOf(field));
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
    const value = this.#values.read(reader.valueStart(index), reader.valueEnd(index));
    return this.#serializer === undefined ? value : this.#deserialized(value, index);
  }

  /** What `SentValues` has made bytes of. */
  #deserialized(bytes: unknown, index: number): unknown {
    const { component, stream, fields } = (this.#known as KnownStream).origin;
    const field = `${fields[index]} in stream '${stream}' of '${component}'`;
    if (!(bytes instanceof Uint8Array)) {
      const text = `${field} arrived in the engine's own form: its sender has no serializer`;
      throw environmentError('PACKET_MALFORMED', text);
    }
    try {
      return this.#serializer?.deserialize(bytes);
    } catch (cause) {
      const text = `${field}: the topology's serializer could not read it: ${messageOf(cause)}`;
      throw userError('VALUE_NOT_SERIALIZABLE', text, cause);
    }
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
      keyPositions: this.#keyPositions(component, output),
    };
    this.#streams.set(header, fresh);
    return fresh;
  }
}

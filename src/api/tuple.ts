import { userError } from '../base/errors.ts';
import type { ComponentName, StreamName, TaskId } from '../base/ids.ts';
import { traceparentOf } from './tuple-trace.ts';

/** What all tuples of one stream have in common; made once per stream. */
export class TupleOrigin {
  readonly component: ComponentName;
  readonly stream: StreamName;
  readonly fields: readonly string[];

  constructor(component: ComponentName, stream: StreamName, fields: readonly string[]) {
    this.component = component;
    this.stream = stream;
    this.fields = fields;
  }

  /** The position of a field, or -1. A linear search wins over a map at the usual few fields. */
  indexOf(field: string): number {
    return this.fields.indexOf(field);
  }
}

/** The field names of a shape; of a union, those of each of its members. */
export type FieldOf<Shape> = Shape extends unknown ? keyof Shape & string : never;

/** The type of a field; in a union, of those members that have it. */
export type FieldValue<Shape, Field> = Shape extends unknown
  ? Field extends keyof Shape
    ? Shape[Field]
    : never
  : never;

/**
 * What a bolt receives: values with names, and where they came from.
 *
 * `Shape` is what the bolt expects to find. A bolt states it in the signature of its `execute`, and
 * the builder refuses, at compile time, a source whose stream lacks one of those fields or has it
 * with another type. A bolt that reads streams of different shapes takes a union of them.
 *
 * The values are the receiver's own: they were encoded inside the sender's `emit`, so that nothing
 * that the sender or another receiver does to an object afterwards shows here.
 *
 * @example
 * ```ts
 * execute(tuple: Tuple<{ word: string }>): void {
 *   const word = tuple.get('word'); // string
 * }
 * ```
 */
export class Tuple<Shape extends object = Record<string, unknown>> {
  /** The stream's part; for the engine. Use the accessors below. */
  readonly origin: TupleOrigin;
  /** The task that emitted it. */
  readonly sourceTask: TaskId;
  /** The values in the order of the stream's declaration. */
  readonly values: readonly unknown[];

  /** Tuples are made by the engine only. Hot: three fields and nothing else. */
  constructor(origin: TupleOrigin, sourceTask: TaskId, values: readonly unknown[]) {
    this.origin = origin;
    this.sourceTask = sourceTask;
    this.values = values;
  }

  /**
   * The value of a field.
   *
   * @throws EngineError UNKNOWN_FIELD when the tuple's stream has no such field.
   */
  get<Field extends FieldOf<Shape>>(field: Field): FieldValue<Shape, Field> {
    const index = this.origin.indexOf(field);
    if (index === -1) throw unknownField(this.origin, field);
    // The wiring was checked against the shape, both by the compiler and before the topology ran.
    return this.values[index] as FieldValue<Shape, Field>;
  }

  /**
   * The value at a position of the stream's declaration, from 0. It is `unknown`, because a shape
   * has no order; `get` knows the type.
   *
   * @throws EngineError UNKNOWN_FIELD when the stream has fewer fields.
   */
  getValue(index: number): unknown {
    if (!(index in this.values)) throw unknownField(this.origin, `#${index}`);
    return this.values[index];
  }

  /** The stream's field names, in the order of `values`. */
  get fields(): readonly string[] {
    return this.origin.fields;
  }

  /** The component that emitted it. */
  get sourceComponent(): ComponentName {
    return this.origin.component;
  }

  /**
   * The span in which the engine executes this tuple, as W3C writes it, when its trace is sampled
   * (`topology.trace.sample.ratio`): what begins spans of its own takes it as their parent.
   */
  get traceparent(): string | undefined {
    return traceparentOf(this);
  }

  /** The stream that it was emitted to. */
  get sourceStream(): StreamName {
    return this.origin.stream;
  }
}

/** Three numbers for each root: its task, the low and the high half of its key. */
const ROOT_NUMBERS = 3;

/**
 * A tuple under at least once, as the engine hands it to a bolt: it knows the trees that it belongs
 * to. For the engine; users see a {@link Tuple}. All numbers are int32, keys are two halves.
 *
 * The first root lies in the tuple itself, as most tuples have one; further ones in an array.
 */
export class TrackedTuple extends Tuple {
  /** The key that the stream manager has given to this copy of the tuple. */
  readonly keyLow: number;
  readonly keyHigh: number;
  /** Of the connection that brought it; see instance/ring-markers.ts. */
  readonly generation: number;
  /** When the task took it out of the ring, in ticks of the clock (instance/task/ticks.ts). */
  readonly takenAt: number;
  /** It has been acked or failed. */
  isSettled = false;
  /** How many trees it belongs to; none when nobody waits for it. */
  rootCount = 0;
  #firstTask = 0;
  #firstLow = 0;
  #firstHigh = 0;
  #others: Int32Array | undefined = undefined;

  constructor(
    origin: TupleOrigin,
    sourceTask: TaskId,
    values: readonly unknown[],
    tracking: {
      readonly keyLow: number;
      readonly keyHigh: number;
      readonly generation: number;
      readonly takenAt: number;
    },
  ) {
    super(origin, sourceTask, values);
    this.keyLow = tracking.keyLow;
    this.keyHigh = tracking.keyHigh;
    this.generation = tracking.generation;
    this.takenAt = tracking.takenAt;
  }

  /** While it is being made. `most` is how many roots it will have. */
  addRoot(task: number, low: number, high: number, most: number): void {
    const index = this.rootCount - 1;
    this.rootCount += 1;
    if (index < 0) {
      this.#firstTask = task;
      this.#firstLow = low;
      this.#firstHigh = high;
      return;
    }
    this.#others ??= new Int32Array((most - 1) * ROOT_NUMBERS);
    this.#others[index * ROOT_NUMBERS] = task;
    this.#others[index * ROOT_NUMBERS + 1] = low;
    this.#others[index * ROOT_NUMBERS + 2] = high;
  }

  /** The spout task that owns a tree; `index` is below `rootCount`. */
  rootTask(index: number): number {
    return index === 0 ? this.#firstTask : this.#other(index, 0);
  }

  rootLow(index: number): number {
    return index === 0 ? this.#firstLow : this.#other(index, 1);
  }

  rootHigh(index: number): number {
    return index === 0 ? this.#firstHigh : this.#other(index, 2);
  }

  #other(index: number, part: number): number {
    return this.#others?.[(index - 1) * ROOT_NUMBERS + part] ?? 0;
  }
}

/** A tuple whatever its shape, which decides only what `get` takes. */
export type AnyTuple = Omit<Tuple, 'get'>;

function unknownField({ component, stream, fields }: TupleOrigin, field: string): Error {
  const where = `a tuple of stream '${stream}' of '${component}'`;
  return userError('UNKNOWN_FIELD', `${where} has no field '${field}', only ${fields.join(', ')}`);
}

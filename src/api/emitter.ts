import { userError } from '../base/errors.ts';
import { type ComponentName, DEFAULT_STREAM } from '../base/ids.ts';
import type { OutputStream } from '../model/logical-topology.ts';
import type { Collector } from './collector.ts';
import type { GivenUpMessage } from './given-up-message.ts';
import type { AnyTuple } from './tuple.ts';

/*
  From what a user emits to what the engine takes: finds the stream, checks the fields, and puts the
  values into the declared order. Hot: nothing is allocated per call but the array of values, and
  not even that where the user emits by position (bench/emit.ts).
*/

/** One stream of a component, ready to be emitted to. */
class EmitStream {
  readonly index: number;
  readonly #component: ComponentName;
  readonly #stream: OutputStream;
  readonly #fields: readonly string[];
  /** The only field of a stream with one, the most frequent kind; undefined in others. */
  readonly #onlyField: string | undefined;

  constructor(component: ComponentName, index: number, stream: OutputStream) {
    this.index = index;
    this.#component = component;
    this.#stream = stream;
    this.#fields = [...stream.fields]; // Reads from a frozen array are slower.
    this.#onlyField = stream.fields.length === 1 ? stream.fields[0] : undefined;
  }

  /**
   * The values in the declared order.
   *
   * @throws EngineError UNKNOWN_FIELD for a missing or additional field, INVALID_ARGUMENT for
   *   anything that is neither an object nor an array of the right length.
   */
  inOrder(values: unknown): readonly unknown[] {
    if (Array.isArray(values)) {
      if (values.length !== this.#fields.length) throw this.#wrongCount(values.length);
      return values;
    }
    if (typeof values !== 'object' || values === null) throw this.#notValues(values);
    const named = values as Readonly<Record<string, unknown>>;
    return this.#onlyField === undefined ? this.#all(named) : [this.#only(named, this.#onlyField)];
  }

  #only(named: Readonly<Record<string, unknown>>, field: string): unknown {
    const value = named[field];
    if (value === undefined && !(field in named)) throw this.#missing(field);
    for (const name in named) {
      if (name !== field) throw this.#unknown(name);
    }
    return value;
  }

  /**
   * Most authors write the fields in the declared order: one walk over the names then checks and
   * reads them all, which is faster than looking each one up.
   */
  #all(named: Readonly<Record<string, unknown>>): readonly unknown[] {
    const fields = this.#fields;
    // oxlint-disable-next-line unicorn/no-new-array -- A growing literal takes 17 places.
    const ordered = new Array<unknown>(fields.length);
    let count = 0;
    for (const name in named) {
      if (name !== fields[count]) return this.#lookedUp(named);
      ordered[count] = named[name];
      count += 1;
    }
    return count === fields.length ? ordered : this.#lookedUp(named);
  }

  #lookedUp(named: Readonly<Record<string, unknown>>): readonly unknown[] {
    const ordered = this.#fields.map((field) => {
      if (!(field in named)) throw this.#missing(field);
      return named[field];
    });
    const unknown = this.#firstUnknown(named);
    if (unknown !== undefined) throw this.#unknown(unknown);
    return ordered;
  }

  #firstUnknown(named: object): string | undefined {
    for (const name in named) {
      if (!this.#fields.includes(name)) return name;
    }
    return undefined;
  }

  #missing(field: string): Error {
    return userError('UNKNOWN_FIELD', `${this.#described()}: field '${field}' is missing`);
  }

  #unknown(name: string): Error {
    return userError('UNKNOWN_FIELD', `${this.#described()}, not '${name}'`);
  }

  #wrongCount(count: number): Error {
    const text = `${this.#described()}: expected ${this.#fields.length} values, got ${count}`;
    return userError('INVALID_ARGUMENT', text);
  }

  #notValues(values: unknown): Error {
    const got = values === null ? 'null' : typeof values;
    return userError(
      'INVALID_ARGUMENT',
      `${this.#described()}: emit takes an object or an array of values, got ${got}`,
    );
  }

  #described(): string {
    const fields = this.#fields.length === 0 ? 'no fields' : `fields ${this.#fields.join(', ')}`;
    return `stream '${this.#stream.stream}' of '${this.#component}' has ${fields}`;
  }
}

/** What is said about a message that is given up, besides its values. */
export type GivenUpFacts = Omit<GivenUpMessage, 'streamIndex' | 'values'>;

/** What a component's own methods call. */
export interface Emitter {
  readonly collector: Collector;
  emitToDefault(
    values: unknown,
    anchors: readonly AnyTuple[] | undefined,
    messageId: unknown,
  ): void;
  emitTo(
    stream: string,
    values: unknown,
    anchors: readonly AnyTuple[] | undefined,
    messageId: unknown,
  ): void;
  emitDirect(
    task: number,
    stream: string,
    values: unknown,
    anchors: readonly AnyTuple[] | undefined,
    messageId: unknown,
  ): void;
  /** As `Collector.deadLetter`; without a stream the values are the bytes of a record. */
  giveUp(stream: string | undefined, values: unknown, facts: GivenUpFacts): Promise<void>;
}

/** The emitter of a component that has been attached to an instance. */
export class StreamEmitter implements Emitter {
  readonly collector: Collector;
  readonly #component: ComponentName;
  readonly #streams: ReadonlyMap<string, EmitStream>;
  readonly #default: EmitStream | undefined;

  constructor(component: ComponentName, outputs: readonly OutputStream[], collector: Collector) {
    this.collector = collector;
    this.#component = component;
    this.#streams = new Map(
      outputs.map((output, index) => [output.stream, new EmitStream(component, index, output)]),
    );
    this.#default = this.#streams.get(DEFAULT_STREAM);
  }

  emitToDefault(
    values: unknown,
    anchors: readonly AnyTuple[] | undefined,
    messageId: unknown,
  ): void {
    const stream = this.#default;
    if (stream === undefined) throw this.#unknownStream(DEFAULT_STREAM);
    this.collector.emit(stream.index, stream.inOrder(values), anchors, messageId);
  }

  emitTo(
    name: string,
    values: unknown,
    anchors: readonly AnyTuple[] | undefined,
    messageId: unknown,
  ): void {
    const stream = this.#streams.get(name);
    if (stream === undefined) throw this.#unknownStream(name);
    this.collector.emit(stream.index, stream.inOrder(values), anchors, messageId);
  }

  emitDirect(
    task: number,
    name: string,
    values: unknown,
    anchors: readonly AnyTuple[] | undefined,
    messageId: unknown,
  ): void {
    const stream = this.#streams.get(name);
    if (stream === undefined) throw this.#unknownStream(name);
    this.collector.emitDirect(task, stream.index, stream.inOrder(values), anchors, messageId);
  }

  giveUp(name: string | undefined, values: unknown, facts: GivenUpFacts): Promise<void> {
    if (name === undefined) {
      return this.collector.deadLetter({ ...facts, streamIndex: undefined, values: [values] });
    }
    const stream = this.#streams.get(name);
    if (stream === undefined) throw this.#unknownStream(name);
    const { index } = stream;
    return this.collector.deadLetter({
      ...facts,
      streamIndex: index,
      values: stream.inOrder(values),
    });
  }

  #unknownStream(name: string): Error {
    const known = [...this.#streams.keys()].map((stream) => `'${stream}'`).join(', ');
    return userError(
      'UNKNOWN_STREAM',
      `'${this.#component}' declares no stream '${name}', only ${known === '' ? 'none' : known}`,
    );
  }
}

/** Stands in until a component is attached: whatever it is asked to do comes too early. */
export const UNATTACHED: Emitter = {
  get collector(): Collector {
    throw tooEarly();
  },
  emitToDefault() {
    throw tooEarly();
  },
  emitTo() {
    throw tooEarly();
  },
  emitDirect() {
    throw tooEarly();
  },
  giveUp() {
    throw tooEarly();
  },
};

function tooEarly(): Error {
  return userError(
    'COMPONENT_FAILED',
    'a component called the engine before it ran: emit, ack, fail and reportError belong into ' +
      'open, nextTuple, prepare or execute, not into the constructor',
  );
}

import { DEFAULT_STREAM } from '../base/ids.ts';
import { Component, declareComponent, EMITTER, type OUTPUTS } from './component.ts';
import type {
  DefaultValuesOf,
  NoStreams,
  StreamDeclarations,
  StreamOf,
  ValuesOf,
} from './streams.ts';
import type { TickTuple } from './tick.ts';
import type { TopologyContext } from './topology-context.ts';
import type { AnyTuple } from './tuple.ts';

/**
 * A step of processing in which a tuple is done when `execute` is. What `execute` emits descends
 * from the tuple that it was given; the tuple is acked when `execute` returns or its promise
 * resolves.
 *
 * All methods are called on one thread and never two at a time; one that returns a promise is
 * awaited before the next call. An error that `execute` throws, or rejects with, fails the tuple;
 * one from any other method ends the instance, which is then started anew.
 *
 * @example
 * ```ts
 * class Split extends BasicBolt.of({ default: ['word'] }) {
 *   execute(tuple: Tuple<{ sentence: string }>): void {
 *     for (const word of tuple.get('sentence').split(' ')) this.emit({ word });
 *   }
 * }
 * ```
 */
export abstract class BasicBolt<Outputs extends StreamDeclarations = NoStreams> extends Component {
  /** For the builder, which infers types from it. */
  declare readonly [OUTPUTS]: Outputs;

  /** The base class of a bolt that emits to these streams; see {@link StreamDeclarations}. */
  static of<const Outputs extends StreamDeclarations>(
    outputs: Outputs,
  ): abstract new () => BasicBolt<Outputs> {
    abstract class DeclaredBasicBolt extends BasicBolt<Outputs> {}
    declareComponent(DeclaredBasicBolt.prototype, { outputs });
    return DeclaredBasicBolt;
  }

  /**
   * Processes one tuple. The type of its parameter says what the bolt reads, and is compared with
   * the sources that the builder wires to it.
   */
  abstract execute(tuple: AnyTuple): void | Promise<void>;

  /** Called once, before anything else. Open connections and files here, not in the constructor. */
  prepare(_context: TopologyContext): void | Promise<void> {}

  /**
   * Called every `topology.tick.tuple.freq.ms`, a setting of the bolt, between two tuples. Without
   * this method ticks go to `execute`; see {@link isTick}. A tick that comes while one is waiting
   * is left out. A failure is that of `execute`; there is nothing to ack.
   */
  tick?(tick: TickTuple): void | Promise<void>;

  /** Called once when all input has ended and all of it is executed: the last chance to emit. */
  finish(): void | Promise<void> {}

  /** Called once at the end, when the instance is stopped in an orderly way; not after a crash. */
  cleanup(): void | Promise<void> {}

  /**
   * Sends a tuple to the default stream, as `{ word }` or, in the declared order, `[word]`. The
   * values are encoded before it returns: what is done to them later shows nowhere. While the
   * components downstream are behind, the call waits.
   *
   * @throws EngineError UNKNOWN_STREAM, UNKNOWN_FIELD or INVALID_ARGUMENT when the tuple is not as
   *   declared, VALUE_NOT_SERIALIZABLE, TUPLE_TOO_LARGE; nothing has been sent then.
   */
  emit(values: DefaultValuesOf<Outputs>): void;
  /** Sends a tuple to a stream by name. */
  emit<Stream extends StreamOf<Outputs>>(stream: Stream, values: ValuesOf<Outputs, Stream>): void;
  emit(first: unknown, second?: unknown): void {
    if (typeof first === 'string') this[EMITTER].emitTo(first, second, undefined, undefined);
    else this[EMITTER].emitToDefault(first, undefined, undefined);
  }

  /**
   * Sends a tuple to one task, of a bolt that reads the stream by `directGrouping`; its tasks are
   * `context.componentTasks(name)`. Everything else is as with `emit`.
   *
   * @throws EngineError as `emit` does, and INVALID_ARGUMENT when the task does not read the stream
   *   by direct grouping.
   */
  emitDirect(task: number, values: DefaultValuesOf<Outputs>): void;
  /** Sends a tuple to one task by a stream with a name. */
  emitDirect<Stream extends StreamOf<Outputs>>(
    task: number,
    stream: Stream,
    values: ValuesOf<Outputs, Stream>,
  ): void;
  emitDirect(task: number, first: unknown, second?: unknown): void {
    const [stream, values] = typeof first === 'string' ? [first, second] : [DEFAULT_STREAM, first];
    this[EMITTER].emitDirect(task, stream, values, undefined, undefined);
  }
}

declareComponent(BasicBolt.prototype, { kind: 'basic-bolt' });
declareComponent(BasicBolt.prototype, { outputs: {} });

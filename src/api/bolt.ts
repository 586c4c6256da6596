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
 * A step of processing that says itself which emitted tuple descends from which received one
 * (anchoring) and when a received one is done. Take {@link BasicBolt} unless tuples are done at
 * another time than at the end of `execute`: joins, batches, aggregations.
 *
 * All methods are called on one thread and never two at a time; one that returns a promise is
 * awaited before the next call. An error that a method throws, or rejects with, ends the instance,
 * which is then started anew.
 *
 * @example
 * ```ts
 * class Pairs extends Bolt.of({ default: ['first', 'second'] }) {
 *   #first: Tuple<{ name: string }> | undefined;
 *
 *   execute(tuple: Tuple<{ name: string }>): void {
 *     const first = this.#first;
 *     if (first === undefined) {
 *       this.#first = tuple;
 *       return;
 *     }
 *     this.#first = undefined;
 *     this.emit([first.get('name'), tuple.get('name')], [first, tuple]);
 *     this.ack(first);
 *     this.ack(tuple);
 *   }
 * }
 * ```
 */
export abstract class Bolt<Outputs extends StreamDeclarations = NoStreams> extends Component {
  /** For the builder, which infers types from it. */
  declare readonly [OUTPUTS]: Outputs;

  /** The base class of a bolt that emits to these streams; see {@link StreamDeclarations}. */
  static of<const Outputs extends StreamDeclarations>(
    outputs: Outputs,
  ): abstract new () => Bolt<Outputs> {
    abstract class DeclaredBolt extends Bolt<Outputs> {}
    declareComponent(DeclaredBolt.prototype, { outputs });
    return DeclaredBolt;
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
   * values are encoded before it returns: what is done to them later shows nowhere. The tuple fails
   * when one that descends from it fails, and so do its anchors; without anchors nobody waits for
   * it. While the components downstream are behind, the call waits.
   *
   * @throws EngineError UNKNOWN_STREAM, UNKNOWN_FIELD or INVALID_ARGUMENT when the tuple is not as
   *   declared, VALUE_NOT_SERIALIZABLE, TUPLE_TOO_LARGE; nothing has been sent then.
   */
  emit(values: DefaultValuesOf<Outputs>, anchors?: AnyTuple | readonly AnyTuple[]): void;
  /** Sends a tuple to a stream by name. */
  emit<Stream extends StreamOf<Outputs>>(
    stream: Stream,
    values: ValuesOf<Outputs, Stream>,
    anchors?: AnyTuple | readonly AnyTuple[],
  ): void;
  emit(first: unknown, second?: unknown, third?: unknown): void {
    if (typeof first === 'string') this[EMITTER].emitTo(first, second, toAnchors(third), undefined);
    else this[EMITTER].emitToDefault(first, toAnchors(second), undefined);
  }

  /**
   * Sends a tuple to one task, of a bolt that reads the stream by `directGrouping`; its tasks are
   * `context.componentTasks(name)`. Everything else is as with `emit`.
   *
   * @throws EngineError as `emit` does, and INVALID_ARGUMENT when the task does not read the stream
   *   by direct grouping.
   */
  emitDirect(
    task: number,
    values: DefaultValuesOf<Outputs>,
    anchors?: AnyTuple | readonly AnyTuple[],
  ): void;
  /** Sends a tuple to one task by a stream with a name. */
  emitDirect<Stream extends StreamOf<Outputs>>(
    task: number,
    stream: Stream,
    values: ValuesOf<Outputs, Stream>,
    anchors?: AnyTuple | readonly AnyTuple[],
  ): void;
  emitDirect(task: number, first: unknown, second?: unknown, third?: unknown): void {
    const [stream, values, anchors] =
      typeof first === 'string' ? [first, second, third] : [DEFAULT_STREAM, first, second];
    this[EMITTER].emitDirect(task, stream, values, toAnchors(anchors), undefined);
  }

  /** Says that a received tuple is done. Every one must be acked or failed, once. */
  ack(tuple: AnyTuple): void {
    this[EMITTER].collector.ack(tuple);
  }

  /** Says that a received tuple cannot be done; the reason travels to the spout it came from. */
  fail(tuple: AnyTuple, reason?: unknown): void {
    this[EMITTER].collector.fail(tuple, reason);
  }
}

declareComponent(Bolt.prototype, { kind: 'bolt' });
declareComponent(Bolt.prototype, { outputs: {} });

/** The overloads of `emit` have checked the type already. */
function toAnchors(anchors: unknown): readonly AnyTuple[] | undefined {
  if (anchors === undefined) return undefined;
  return Array.isArray(anchors) ? anchors : [anchors as AnyTuple];
}

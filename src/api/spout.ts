import { DEFAULT_STREAM } from '../base/ids.ts';
import { Component, declareComponent, EMITTER, type OUTPUTS } from './component.ts';
import type { FailReason } from '../model/fail-reason.ts';
import type { LetterToReplay } from './letter-to-replay.ts';
import type {
  DefaultValuesOf,
  NoStreams,
  StreamDeclarations,
  StreamOf,
  ValuesOf,
} from './streams.ts';
import { asText } from './as-text.ts';
import type { TopologyContext } from './topology-context.ts';

/** What a dead letter says besides the values of its tuple. */
export interface DeadLetterFacts {
  /** As the spout's `fail` was told. */
  readonly reason: FailReason;
  readonly messageId?: unknown;
  /** Where the tuple is at its source. */
  readonly position?: unknown;
  /** How often it was emitted; once unless given. */
  readonly attempts?: number;
}

/**
 * A source of tuples.
 *
 * All methods are called on one thread and never two at a time; one that returns a promise is
 * awaited before the next call. An error that a method throws, or rejects with, ends the instance,
 * which is then started anew.
 *
 * @example
 * ```ts
 * class Sentences extends Spout.of({ default: ['sentence'] }) {
 *   #left = ['the cow jumped over the moon', 'an apple a day'];
 *
 *   nextTuple(): void {
 *     const sentence = this.#left.pop();
 *     if (sentence === undefined) this.endOfInput();
 *     else this.emit({ sentence });
 *   }
 * }
 * ```
 */
export abstract class Spout<Outputs extends StreamDeclarations = NoStreams> extends Component {
  /** For the builder, which infers types from it. */
  declare readonly [OUTPUTS]: Outputs;

  /** The base class of a spout that emits to these streams; see {@link StreamDeclarations}. */
  static of<const Outputs extends StreamDeclarations>(
    outputs: Outputs,
  ): abstract new () => Spout<Outputs> {
    abstract class DeclaredSpout extends Spout<Outputs> {}
    declareComponent(DeclaredSpout.prototype, { outputs });
    return DeclaredSpout;
  }

  /**
   * Emits what there is to emit, a little at a time: acks, commands and the end of the topology are
   * dealt with between two calls. When a call emits nothing, the engine waits a moment before the
   * next one, from nothing up to `heron.instance.idle.backoff.max.ms`; a promise that settles, or
   * `context.wake()`, ends the wait. What it returns does not matter, but a promise is awaited.
   */
  abstract nextTuple(): unknown;

  /** Called once, before anything else. Open connections and files here, not in the constructor. */
  open(_context: TopologyContext): void | Promise<void> {}

  /** Called once at the end, when the instance is stopped in an orderly way; not after a crash. */
  close(): void | Promise<void> {}

  /** Called when a paused topology runs again. */
  activate(): void | Promise<void> {}

  /** Called when the topology is paused: `nextTuple` is not called until `activate`. */
  deactivate(): void | Promise<void> {}

  /** The tuple that was emitted with this message id has been processed. */
  ack(_messageId: unknown): void | Promise<void> {}

  /** The tuple that was emitted with this message id has not been processed, for this reason. */
  fail(_messageId: unknown, _reason: FailReason): void | Promise<void> {}

  /**
   * Whether this spout has something that it will emit yet, such as a failed tuple that waits for
   * its next attempt. Asked once the input has ended, when the topology is drained in particular:
   * the task ends when all its tuples are settled and this is false. False unless overridden.
   */
  holdsMessages(): boolean {
    return false;
  }

  /**
   * A dead letter of this task is to be emitted again as a new tuple: somebody has asked for it
   * with `heron dead-letters replay`, which is refused for a spout without this method. Call
   * `letter.remove()` when that tuple has been acked.
   */
  replay?(letter: LetterToReplay): void | Promise<void>;

  /**
   * Gives up a tuple of this stream that has failed: it becomes a dead letter of the topology, with
   * its values and the reason (setting `topology.dead.letters`). Resolves when the letter would
   * survive a crash; whoever keeps positions may commit that of the tuple then. While a disk is
   * full or broken the promise stays pending.
   *
   * @throws EngineError as `emit` does, except for values that cannot be encoded: the letter is
   *   kept without them.
   */
  deadLetter<Stream extends StreamOf<Outputs>>(
    stream: Stream,
    values: ValuesOf<Outputs, Stream>,
    facts: DeadLetterFacts,
  ): Promise<void> {
    const { messageId, position, attempts = 1, reason } = facts;
    const { kind, component, task, error } = reason;
    return this[EMITTER].giveUp(stream, values, {
      messageId: messageId === undefined ? undefined : asText(messageId),
      position: position === undefined ? undefined : asText(position),
      attempts,
      reason: { kind, component, task, message: error?.message, stack: error?.stack },
      isEmitted: false,
    });
  }

  /**
   * Sends a tuple to the default stream, as `{ sentence }` or, in the declared order, `[sentence]`.
   * The values are encoded before it returns: what is done to them later shows nowhere. With a
   * message id the spout hears of the tuple's fate by `ack` or `fail`. While the components
   * downstream are behind, the call waits.
   *
   * @throws EngineError UNKNOWN_STREAM, UNKNOWN_FIELD or INVALID_ARGUMENT when the tuple is not as
   *   declared, VALUE_NOT_SERIALIZABLE, TUPLE_TOO_LARGE; nothing has been sent then.
   */
  emit(values: DefaultValuesOf<Outputs>, messageId?: unknown): void;
  /** Sends a tuple to a stream by name. */
  emit<Stream extends StreamOf<Outputs>>(
    stream: Stream,
    values: ValuesOf<Outputs, Stream>,
    messageId?: unknown,
  ): void;
  emit(first: unknown, second?: unknown, third?: unknown): void {
    if (typeof first === 'string') this[EMITTER].emitTo(first, second, undefined, third);
    else this[EMITTER].emitToDefault(first, undefined, second);
  }

  /**
   * Sends a tuple to one task, of a bolt that reads the stream by `directGrouping`; its tasks are
   * `context.componentTasks(name)`. Everything else is as with `emit`.
   *
   * @throws EngineError as `emit` does, and INVALID_ARGUMENT when the task does not read the stream
   *   by direct grouping.
   */
  emitDirect(task: number, values: DefaultValuesOf<Outputs>, messageId?: unknown): void;
  /** Sends a tuple to one task by a stream with a name. */
  emitDirect<Stream extends StreamOf<Outputs>>(
    task: number,
    stream: Stream,
    values: ValuesOf<Outputs, Stream>,
    messageId?: unknown,
  ): void;
  emitDirect(task: number, first: unknown, second?: unknown, third?: unknown): void {
    const [stream, values, messageId] =
      typeof first === 'string' ? [first, second, third] : [DEFAULT_STREAM, first, second];
    this[EMITTER].emitDirect(task, stream, values, undefined, messageId);
  }

  /**
   * Says that this task has nothing more to emit, ever: `nextTuple` is not called again. When all
   * tasks of all spouts have said so and all tuples are processed, the topology is completed and
   * goes away by itself. Idempotent.
   */
  endOfInput(): void {
    this[EMITTER].collector.endOfInput();
  }
}

declareComponent(Spout.prototype, { kind: 'spout' });
declareComponent(Spout.prototype, { outputs: {} });

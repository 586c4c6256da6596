import type { StreamDeclarations, StreamOf, ValuesOf } from './streams.ts';
import type { TopologyContext } from './topology-context.ts';

/**
 * A message of a source: the values of one tuple, and where the source has them. `stream` is left
 * out for the default stream.
 */
export type SourceMessage<Outputs extends StreamDeclarations, Position> = {
  readonly [Stream in StreamOf<Outputs>]: {
    readonly position: Position;
    readonly values: ValuesOf<Outputs, Stream>;
  } & ('default' extends Stream ? { readonly stream?: Stream } : { readonly stream: Stream });
}[StreamOf<Outputs>];

/**
 * A record that cannot be made a tuple: it becomes a dead letter at once, with its bytes and the
 * error, and the next record is unharmed.
 */
export interface UnreadableRecord<Position> {
  readonly position: Position;
  readonly unreadable: Uint8Array;
  /** Why; its message and stack stand in the letter. */
  readonly error: unknown;
}

/**
 * What a source has next: a message, a record that is none, nothing for the time being
 * (`undefined`), or nothing any more (`'end'`).
 */
export type SourceAnswer<Outputs extends StreamDeclarations, Position> =
  | SourceMessage<Outputs, Position>
  | UnreadableRecord<Position>
  | 'end'
  | undefined;

/**
 * Where a {@link ReplayableSpout} reads: something with messages in an order, each at a position,
 * that can be read again from any position on. What a position is, is the source's own affair; the
 * spout compares none and knows their order by that of `next`. It has to be JSON where it is to be
 * seen in dead letters.
 *
 * Every method may return a promise. They are called on the thread of the component and each one at
 * a time; `commit` and `reread` may be called while a promise of `next` is pending.
 *
 * @example
 * ```ts
 * class Numbers implements ReplayableSource<{ readonly default: readonly ['number'] }, number> {
 *   #last = 0;
 *   committed() { return store.get('numbers'); }
 *   open(from: number | undefined) { this.#last = from ?? 0; }
 *   next() {
 *     if (this.#last === 1_000) return 'end';
 *     this.#last += 1;
 *     return { position: this.#last, values: { number: this.#last } };
 *   }
 *   commit(position: number) { return store.put('numbers', position); }
 * }
 * ```
 */
export interface ReplayableSource<Outputs extends StreamDeclarations, Position> {
  /**
   * The last position that was committed, by this process or one before it; undefined when none has
   * ever been. Called once, before `open`. An error is not that: the question is put again, with
   * growing pauses, and in the end the instance fails. It never begins at the start for want of an
   * answer.
   */
  committed(): Position | undefined | Promise<Position | undefined>;

  /** Goes to behind a position; with undefined to the first message that there is. Called once. */
  open(from: Position | undefined): void | Promise<void>;

  /**
   * The next message. While a promise is pending, acks, retries and commands go on. An error ends
   * the instance.
   */
  next(): SourceAnswer<Outputs, Position> | Promise<SourceAnswer<Outputs, Position>>;

  /**
   * Reads a message again that has failed; undefined when the source does not have it any more,
   * which is reported as lost at the source, once, and the others go on. A source without this
   * method has the values of all messages kept in memory until they are settled. An error ends the
   * instance.
   */
  reread?(
    position: Position,
  ):
    | SourceMessage<Outputs, Position>
    | UnreadableRecord<Position>
    | undefined
    | Promise<SourceMessage<Outputs, Position> | UnreadableRecord<Position> | undefined>;

  /**
   * Everything up to this position, in the order of `next`, has been processed or is a dead letter:
   * a process that begins later needs nothing of it. An error is reported, and the newest position
   * is committed after the next interval.
   */
  commit(position: Position): void | Promise<void>;

  /**
   * The topology's plan has changed: the tasks, which of them this one is, settings. Here a source
   * takes over what other tasks have read, or gives up what it reads itself. What it gives up must
   * be read by nobody else before what this task has read of it is committed; see
   * `isHandingOver`. Called after `open`, between two calls of the spout; `next` and `commit` may
   * be pending. An error ends the instance.
   */
  update?(context: TopologyContext): void | Promise<void>;

  /**
   * True while it waits for the commit of something that it is to hand over to another task:
   * commits then come without their usual pause.
   */
  readonly isHandingOver?: boolean;

  /** Lets go of what it holds. Called once, at an orderly end. */
  close?(): void | Promise<void>;
}

/**
 * A source for a spout with these streams, which may be one that knows fewer of them. Compared
 * member by member: as an interface with streams in a parameter, no other would fit it.
 */
export type SourceFor<Outputs extends StreamDeclarations> = Pick<
  ReplayableSource<Outputs, unknown>,
  keyof ReplayableSource<Outputs, unknown>
>;

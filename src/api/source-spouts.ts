import type { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { declareComponent } from './component.ts';
import {
  type Pulled,
  pulledIterable,
  pulledReadable,
  type PulledSource,
  pulledStream,
} from './pulled-source.ts';
import { Spout } from './spout.ts';
import type { FieldDeclaration, StreamDeclarations, TypedFields, ValuesOf } from './streams.ts';
import type { TopologyContext } from './topology-context.ts';

/*
  Spouts that emit what other libraries produce: async iterables and generators, Node's and the
  web's readable streams.
*/

/** What a source is opened with. */
export interface SourceStart {
  readonly context: TopologyContext;
  /** Aborted when the source is to let go; for whatever it may be waiting for. */
  readonly signal: AbortSignal;
}

export interface SourceSpoutOptions {
  /**
   * What becomes of the source while the topology is paused. `hold`, the default: it stays open,
   * and nothing is read from it. `release`: it is closed, and opened anew afterwards.
   */
  readonly whenDeactivated?: 'hold' | 'release';
  /**
   * Called when the plan of the topology has changed, as a spout's `update` is: a source that reads
   * by `taskIndex` and `parallelism` can turn to another part there. The context is the one that
   * the source was opened with.
   */
  readonly update?: (context: TopologyContext) => void | Promise<void>;
}

/** A spout with one field, `value`. */
export type ValueSpout<Item> = Spout<{
  readonly default: TypedFields<readonly ['value'], { value: Item }>;
}>;

/** A spout that emits items as tuples of these fields. */
export type TupleSpout<Fields extends FieldDeclaration> = Spout<{ readonly default: Fields }>;

const VALUE_FIELD = ['value'] as const;
/** A promise that has all it needs settles within so many turns of the microtask queue. */
const SOON_TURNS = 4;
/** For a source that does not let go: what is asked of a process that ends is more pressing. */
const RELEASE_MS_MAX = 1_000;

/**
 * A factory of spouts that emit the items of an async iterable, such as an async generator, or of a
 * plain iterable. An item is asked for when there is room for it, and one at a time. The end of the
 * iteration is the end of input; an error of it is an error of the spout. When the task is stopped
 * the iterator's `return` is called, which runs a generator's `finally`.
 *
 * @example
 * ```ts
 * const lines = builder.setSpout('lines', fromAsyncIterable(({ signal }) => readLines(signal)));
 * builder.setBolt('print', () => new Print()).shuffleGrouping(lines); // Tuple<{ value: string }>
 * ```
 */
export function fromAsyncIterable<Item>(
  open: (start: SourceStart) => AsyncIterable<Item> | Iterable<Item>,
  options?: SourceSpoutOptions,
): () => ValueSpout<Item>;
/** The same with fields: each item is a tuple, as an object or in the declared order. */
export function fromAsyncIterable<const Fields extends FieldDeclaration>(
  open: (start: SourceStart) => ItemsOf<Fields>,
  options: SourceSpoutOptions & { readonly fields: Fields },
): () => TupleSpout<Fields>;
export function fromAsyncIterable(
  open: (start: SourceStart) => AsyncIterable<unknown> | Iterable<unknown>,
  options: SourceSpoutOptions & { readonly fields?: FieldDeclaration } = {},
): () => never {
  return sourceSpout((start) => pulledIterable(open(start)), options) as never;
}

type ItemsOf<Fields> =
  | AsyncIterable<ValuesOf<{ readonly default: Fields }, 'default'>>
  | Iterable<ValuesOf<{ readonly default: Fields }, 'default'>>;

/**
 * A factory of spouts that emit the chunks of a Node stream, or the objects of one in object mode,
 * as {@link fromAsyncIterable} does. The stream is destroyed when the task is stopped.
 */
export function fromReadable<Chunk = Uint8Array>(
  open: (start: SourceStart) => Readable,
  options: SourceSpoutOptions = {},
): () => ValueSpout<Chunk> {
  return sourceSpout((start) => pulledReadable<Chunk>(open(start)), options) as never;
}

/**
 * A factory of spouts that emit the chunks of a web stream, as {@link fromAsyncIterable} does. The
 * stream is cancelled when the task is stopped.
 */
export function fromReadableStream<Chunk>(
  open: (start: SourceStart) => ReadableStream<Chunk>,
  options: SourceSpoutOptions = {},
): () => ValueSpout<Chunk> {
  return sourceSpout((start) => pulledStream<Chunk>(open(start)), options) as never;
}

function sourceSpout(
  open: (start: SourceStart) => PulledSource<unknown>,
  options: SourceSpoutOptions & { readonly fields?: FieldDeclaration },
): () => Spout<StreamDeclarations> {
  const { fields = VALUE_FIELD } = options;
  class DeclaredSourceSpout extends SourceSpout {}
  declareComponent(DeclaredSourceSpout.prototype, { outputs: { default: fields } });
  return () => new DeclaredSourceSpout(open, options);
}

/** What a source has answered. */
type Arrived = { readonly pulled: Pulled<unknown> } | { readonly error: unknown };

/**
 * The spout itself.
 *
 * P1. One item at most has been asked for or waits to be emitted; `nextTuple`, which is called only
 *     when there is room, asks for the next one.
 * P2. No call waits for the source for long: commands and the end get their turn. The item wakes
 *     the spout when it arrives.
 */
class SourceSpout extends Spout<StreamDeclarations> {
  readonly #openSource: (start: SourceStart) => PulledSource<unknown>;
  readonly #options: SourceSpoutOptions & { readonly fields?: FieldDeclaration };
  #context: TopologyContext | undefined;
  #source: PulledSource<unknown> | undefined;
  #abort = new AbortController();
  #isAsked = false;
  #isWaiting = false;
  #arrived: Arrived | undefined;

  constructor(
    openSource: (start: SourceStart) => PulledSource<unknown>,
    options: SourceSpoutOptions & { readonly fields?: FieldDeclaration },
  ) {
    super();
    this.#openSource = openSource;
    this.#options = options;
  }

  override open(context: TopologyContext): void {
    this.#context = context;
    this.#start();
  }

  override update(context: TopologyContext): void | Promise<void> {
    return this.#options.update?.(context);
  }

  override nextTuple(): unknown {
    if (this.#arrived === undefined && !this.#isAsked) this.#ask(this.#source ?? this.#start());
    if (this.#arrived !== undefined) return this.#deliver();
    return this.#deliverSoon();
  }

  override async deactivate(): Promise<void> {
    if (this.#options.whenDeactivated === 'release') await this.#release();
  }

  override close(): Promise<void> {
    return this.#release();
  }

  #start(): PulledSource<unknown> {
    const context = this.#context as TopologyContext;
    this.#abort = new AbortController();
    this.#source = this.#openSource({ context, signal: this.#abort.signal });
    return this.#source;
  }

  #ask(source: PulledSource<unknown>): void {
    const pulled = source.next();
    if (!(pulled instanceof Promise)) {
      this.#arrived = { pulled };
      return;
    }
    this.#isAsked = true;
    pulled.then(
      (value) => this.#arrive(source, { pulled: value }),
      (error: unknown) => this.#arrive(source, { error }),
    );
  }

  #arrive(source: PulledSource<unknown>, arrived: Arrived): void {
    if (source !== this.#source) return; // It was released meanwhile.
    this.#isAsked = false;
    this.#arrived = arrived;
    if (!this.#isWaiting) this.#context?.wake();
  }

  async #deliverSoon(): Promise<void> {
    this.#isWaiting = true;
    for (let turn = 0; turn < SOON_TURNS && this.#arrived === undefined; turn += 1) {
      await Promise.resolve();
    }
    this.#isWaiting = false;
    if (this.#arrived !== undefined) this.#deliver();
  }

  #deliver(): void {
    const arrived = this.#arrived;
    this.#arrived = undefined;
    if (arrived === undefined) return;
    if ('error' in arrived) throw arrived.error;
    const { done, value } = arrived.pulled;
    if (done === true) this.endOfInput();
    else this.emit((this.#options.fields === undefined ? [value] : value) as never);
  }

  async #release(): Promise<void> {
    const source = this.#source;
    if (source === undefined) return;
    this.#source = undefined;
    this.#isAsked = false;
    this.#abort.abort();
    const { clock, log } = this.#context as TopologyContext;
    const late = Promise.withResolvers<'late'>();
    const timer = clock.after(RELEASE_MS_MAX, () => late.resolve('late'));
    const closed = source.close().finally(() => timer.cancel());
    if ((await Promise.race([closed, late.promise])) !== 'late') return;
    closed.catch(() => {}); // It comes too late for anybody.
    log.warn('the source of this spout does not let go; it should heed the signal it was given');
  }
}

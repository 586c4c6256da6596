import { userError } from '../base/errors.ts';
import { type ComponentName, DEFAULT_STREAM, streamName } from '../base/ids.ts';
import type { Grouping, InputStream } from '../model/logical-topology.ts';
import type { CustomGrouping, DeclaredCustomGrouping } from './custom-grouping.ts';
import { Source } from './source.ts';
import type { StreamDeclarations, StreamOf, ValuesInOrderOf } from './streams.ts';
import type { DefaultStreamOf, KeyFieldOf, ReadableBy } from './wiring.ts';

/** What a declarer tells the builder. */
export interface InputCollector {
  addInput(input: InputStream): void;
  addCustomGrouping(grouping: DeclaredCustomGrouping): void;
}

/**
 * Wires a bolt to what it reads. Each grouping says how the tuples of one stream are shared among
 * the tasks of the bolt; a bolt may read any number of streams. It is a source for further bolts.
 *
 * The compiler refuses a source whose stream does not have what the bolt's `execute` reads. What
 * the compiler cannot see is refused when the topology is built.
 *
 * @example
 * ```ts
 * builder
 *   .setBolt('count', () => new Count(), { parallelism: 4 })
 *   .fieldsGrouping(words, 'word')
 *   .allGrouping(commands, 'reset');
 * ```
 */
export class BoltDeclarer<Outputs extends StreamDeclarations, Input> extends Source<Outputs> {
  readonly #addInput: (input: InputStream) => void;
  readonly #addCustomGrouping: (grouping: DeclaredCustomGrouping) => void;

  /** Declarers are made by {@link TopologyBuilder} only. */
  constructor(owner: object, name: ComponentName, inputs: InputCollector) {
    super(owner, name);
    this.#addInput = (input) => inputs.addInput(input);
    this.#addCustomGrouping = (grouping) => inputs.addCustomGrouping(grouping);
  }

  /** Each tuple to any one task, evenly. `stream` is the default one unless named. */
  shuffleGrouping<
    From extends StreamDeclarations,
    Stream extends StreamOf<From> = DefaultStreamOf<From>,
  >(source: Source<From> & ReadableBy<Input, From, Stream>, stream?: Stream): this {
    return this.#read(source, stream, { kind: 'shuffle' });
  }

  /**
   * Tuples with equal values in these fields to one and the same task. Values may be strings,
   * numbers, booleans, bigints, bytes, null, and arrays of these; 1 and 1n are different.
   */
  fieldsGrouping<
    From extends StreamDeclarations,
    Stream extends StreamOf<From> = DefaultStreamOf<From>,
  >(
    source: Source<From> & ReadableBy<Input, From, Stream>,
    fields: KeyFieldOf<From, Stream> | readonly KeyFieldOf<From, Stream>[],
    stream?: Stream,
  ): this {
    const names: readonly string[] = typeof fields === 'string' ? [fields] : fields;
    return this.#read(source, stream, { kind: 'fields', fields: [...names] });
  }

  /** Each tuple to every task. */
  allGrouping<
    From extends StreamDeclarations,
    Stream extends StreamOf<From> = DefaultStreamOf<From>,
  >(source: Source<From> & ReadableBy<Input, From, Stream>, stream?: Stream): this {
    return this.#read(source, stream, { kind: 'all' });
  }

  /** All tuples to one task, the one with the lowest number. */
  globalGrouping<
    From extends StreamDeclarations,
    Stream extends StreamOf<From> = DefaultStreamOf<From>,
  >(source: Source<From> & ReadableBy<Input, From, Stream>, stream?: Stream): this {
    return this.#read(source, stream, { kind: 'global' });
  }

  /** Each tuple to any one task, as shuffle does today; the engine may choose what is cheapest. */
  noneGrouping<
    From extends StreamDeclarations,
    Stream extends StreamOf<From> = DefaultStreamOf<From>,
  >(source: Source<From> & ReadableBy<Input, From, Stream>, stream?: Stream): this {
    return this.#read(source, stream, { kind: 'none' });
  }

  /**
   * Each tuple to one of the tasks in the container that it was emitted in, evenly; to any one task
   * where that container has none. Saves the way over the network. In Heron it is shuffle.
   */
  localOrShuffleGrouping<
    From extends StreamDeclarations,
    Stream extends StreamOf<From> = DefaultStreamOf<From>,
  >(source: Source<From> & ReadableBy<Input, From, Stream>, stream?: Stream): this {
    return this.#read(source, stream, { kind: 'local-or-shuffle' });
  }

  /** Each tuple to the task that the source names by `emitDirect`. */
  directGrouping<
    From extends StreamDeclarations,
    Stream extends StreamOf<From> = DefaultStreamOf<From>,
  >(source: Source<From> & ReadableBy<Input, From, Stream>, stream?: Stream): this {
    return this.#read(source, stream, { kind: 'direct' });
  }

  /**
   * Each tuple to the tasks that your own code chooses. `make` is called in each task of the
   * source.
   */
  customGrouping<
    From extends StreamDeclarations,
    Stream extends StreamOf<From> = DefaultStreamOf<From>,
  >(
    source: Source<From> & ReadableBy<Input, From, Stream>,
    make: () => CustomGrouping<ValuesInOrderOf<From, Stream>>,
    stream?: Stream,
  ): this {
    if (typeof make !== 'function') {
      throw userError(
        'INVALID_TOPOLOGY',
        `bolt '${this.name}': customGrouping takes a function that makes the grouping, such as ` +
          '() => new ByRegion()',
      );
    }
    this.#read(source, stream, { kind: 'custom' });
    this.#addCustomGrouping({
      component: source.name,
      stream: streamName(stream ?? DEFAULT_STREAM),
      bolt: this.name,
      make,
    });
    return this;
  }

  #read(source: unknown, stream: string = DEFAULT_STREAM, grouping: Grouping): this {
    if (!(source instanceof Source)) {
      throw userError(
        'INVALID_TOPOLOGY',
        `bolt '${this.name}': ${methodOf(grouping)} takes what setSpout or setBolt returned, ` +
          `not a ${typeof source}`,
      );
    }
    if (source.owner !== this.owner) {
      throw userError(
        'INVALID_TOPOLOGY',
        `bolt '${this.name}' cannot read '${source.name}': it belongs to another topology`,
      );
    }
    this.#addInput({ component: source.name, stream: streamName(stream), grouping });
    return this;
  }
}

/** The method's name, for the author. */
function methodOf({ kind }: Grouping): string {
  return kind === 'local-or-shuffle' ? 'localOrShuffleGrouping' : `${kind}Grouping`;
}

import { BasicBolt, fields, Spout, topology, type Tuple } from '../../src/api/index.ts';
import type { BuiltTopology } from '../../src/api/topology.ts';

/*
  A small word count for simulated clusters. What the counting tasks saw is collected outside of the
  simulated world.
*/

export interface WordCount {
  readonly built: BuiltTopology;
  /** By word: what the counting tasks that have finished have reported. */
  readonly counts: ReadonlyMap<string, number>;
  /** How many tuples have been executed by a counting task. */
  readonly counted: () => number;
}

export interface WordCountOptions {
  /** How often each spout task emits all words. */
  readonly rounds?: number;
  readonly containers?: number;
  readonly config?: Readonly<Record<string, string>>;
  /** Spouts that never end, and emit some dozens of words a second. */
  readonly isEndless?: boolean;
}

/** The pauses between empty calls grow to 16 ms. */
const EMPTY_CALLS = 8;

export const WORDS = ['the', 'quick', 'brown', 'fox', 'jumps', 'over', 'the', 'lazy', 'dog'];

export function simulatedWordCount({
  rounds = 10,
  containers = 2,
  config = {},
  isEndless = false,
}: WordCountOptions = {}): WordCount {
  const counts = new Map<string, number>();
  let counted = 0;

  class Words extends Spout.of({ default: fields<{ word: string }>()('word') }) {
    #next = 0;
    #calls = 0;

    override nextTuple(): void {
      this.#calls += 1;
      if (isEndless && this.#calls % EMPTY_CALLS !== 0) return;
      if (this.#next === rounds * WORDS.length && !isEndless) return this.endOfInput();
      this.emit({ word: WORDS[this.#next % WORDS.length] ?? '' });
      this.#next += 1;
    }
  }

  class Count extends BasicBolt.of({}) {
    readonly #counts = new Map<string, number>();

    override execute(tuple: Tuple<{ word: string }>): void {
      const word = tuple.get('word');
      this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
      counted += 1;
    }

    override finish(): void {
      for (const [word, count] of this.#counts) counts.set(word, (counts.get(word) ?? 0) + count);
    }
  }

  const definition = topology('words', (builder) => {
    builder.setConfig({ 'topology.stmgrs': containers, ...config });
    const words = builder.setSpout('words', () => new Words(), { parallelism: 2 });
    builder.setBolt('count', () => new Count(), { parallelism: 2 }).fieldsGrouping(words, 'word');
  });
  return { built: definition.build(), counts, counted: () => counted };
}

/*
  Two bolts in a row, each of which adds exclamation marks to every word: the smallest topology that
  is one.

      heron run local/$USER/dev examples/exclamation.ts exclamation $PWD/words.txt 100

  Arguments: the file for the result, then how many words.
*/

import { BasicBolt, fields, Spout, topology, type Tuple } from 'heron-ts';
import { SortedLines } from './sorted-lines.ts';

interface Word {
  readonly word: string;
}

const WORDS = ['nathan', 'mike', 'jackson', 'golda', 'bertels'];

class Words extends Spout.of({ default: fields<Word>()('word') }) {
  readonly #count: number;
  #n = 0;

  constructor(count: number) {
    super();
    this.#count = count;
  }

  override nextTuple(): void {
    if (this.#n === this.#count) {
      this.endOfInput();
      return;
    }
    this.emit({ word: WORDS[this.#n % WORDS.length] ?? '' });
    this.#n += 1;
  }
}

class Exclaim extends BasicBolt.of({ default: fields<Word>()('word') }) {
  override execute(tuple: Tuple<Word>): void {
    this.emit({ word: `${tuple.get('word')}!!!` });
  }
}

export default topology('exclamation', (builder, [result = 'words.txt', count = '100']) => {
  const words = builder.setSpout('words', () => new Words(Number(count)));
  const loud = builder
    .setBolt('exclaim', () => new Exclaim(), { parallelism: 2 })
    .shuffleGrouping(words);
  const louder = builder.setBolt('exclaim-again', () => new Exclaim()).shuffleGrouping(loud);
  builder.setBolt('result', () => new SortedLines(result)).globalGrouping(louder);
});

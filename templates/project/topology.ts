import { BasicBolt, fields, Spout, topology, type Tuple } from 'heron-ts';

export class Sentences extends Spout.of({ default: fields<{ sentence: string }>()('sentence') }) {
  #left = ['the quick brown fox', 'jumps over', 'the lazy dog'];

  override nextTuple(): void {
    const sentence = this.#left.pop();
    if (sentence === undefined) this.endOfInput();
    else this.emit({ sentence });
  }
}

export class Split extends BasicBolt.of({ default: fields<{ word: string }>()('word') }) {
  override execute(tuple: Tuple<{ sentence: string }>): void {
    for (const word of tuple.get('sentence').split(' ')) this.emit({ word });
  }
}

export class Count extends BasicBolt.of({
  default: fields<{ word: string; count: number }>()('word', 'count'),
}) {
  readonly #counts = new Map<string, number>();

  override execute(tuple: Tuple<{ word: string }>): void {
    const word = tuple.get('word');
    this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
  }

  override finish(): void {
    for (const [word, count] of this.#counts) this.emit({ word, count });
  }
}

export class Print extends BasicBolt.of({}) {
  override execute(tuple: Tuple<{ word: string; count: number }>): void {
    console.log(`${tuple.get('word')}: ${tuple.get('count')}`);
  }
}

export default topology('words', (builder) => {
  const sentences = builder.setSpout('sentences', () => new Sentences());
  const words = builder.setBolt('split', () => new Split()).shuffleGrouping(sentences);
  const counts = builder
    .setBolt('count', () => new Count(), { parallelism: 2 })
    .fieldsGrouping(words, 'word');
  builder.setBolt('print', () => new Print()).globalGrouping(counts);
});

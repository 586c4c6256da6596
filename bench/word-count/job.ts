/*
  The job that every engine in bench/ runs: words by a fixed generator, grouped by word, counted.

  Arguments: bolt (count | transport), tasks of each component, words per second of each spout (0 =
  as many as it can), folder for the samples, distinct words (450,000 unless given).

  Each bolt task appends a line to its file of samples every 250 ms: the machine's monotonic
  clock, and how many words it has executed; the runner takes rates from these.
*/

import { fields, Spout, topology, type TopologyContext, type Tuple } from 'heron-ts';
import { LatencyHistogram } from './latency-histogram.ts';
import { Count, MeasuredBolt, nowMicros, type Sampler, Transport } from './measured-bolts.ts';
import { WordRandom, wordList } from './words.ts';

const WORDS = 450_000;
/** Task i draws with seed 7 + i. */
const SPOUT_SEED = 7;

class Words extends Spout.of({ default: fields<{ word: string; at: number }>()('word', 'at') }) {
  override nextTuple(): void {}
}

class PlainWords extends Spout.of({ default: ['word'] }) {
  readonly #count: number;
  #words: readonly string[] = [];
  #random = new WordRandom(SPOUT_SEED);

  constructor(count: number) {
    super();
    this.#count = count;
  }

  override open(context: TopologyContext): void {
    this.#words = wordList(this.#count);
    this.#random = new WordRandom(SPOUT_SEED + context.taskIndex);
  }

  override nextTuple(): void {
    this.emit([this.#words[this.#random.below(this.#count)] as string]);
  }
}

/** Emits what is due by the clock, so that a late call catches up; each word carries its time. */
class PacedWords extends Words {
  readonly #perMicrosecond: number;
  readonly #words = wordList(WORDS);
  readonly #random = new WordRandom(SPOUT_SEED);
  #startedAt = 0;
  #emitted = 0;

  constructor(wordsPerSecond: number) {
    super();
    this.#perMicrosecond = wordsPerSecond / 1e6;
  }

  override nextTuple(): void {
    const now = nowMicros();
    if (this.#startedAt === 0) this.#startedAt = now;
    const due = Math.floor((now - this.#startedAt) * this.#perMicrosecond);
    for (; this.#emitted < due; this.#emitted += 1) {
      const word = this.#words[this.#random.below(WORDS)] as string;
      this.emit({ word, at: nowMicros() });
    }
  }
}

class Latency extends MeasuredBolt {
  readonly #counts = new Map<string, number>();
  readonly #histogram = new LatencyHistogram();

  override execute(tuple: Tuple<{ word: string; at: number }>): void {
    const word = tuple.get('word');
    this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
    this.#histogram.record(nowMicros() - tuple.get('at'));
    (this.sampler as Sampler).executed += 1;
  }

  protected override extra(): object {
    return { micros: this.#histogram.takeBuckets() };
  }
}

export default topology(
  'bench',
  (builder, [bolt = 'count', tasks = '1', rate = '0', folder = '.', distinct = '']) => {
    const wordCount = Number(distinct) || WORDS;
    const options = { parallelism: Number(tasks) };
    if (Number(rate) > 0) {
      const paced = builder.setSpout('words', () => new PacedWords(Number(rate)), options);
      builder.setBolt('bolt', () => new Latency(folder), options).fieldsGrouping(paced, 'word');
      return;
    }
    const words = builder.setSpout('words', () => new PlainWords(wordCount), options);
    const make = (): MeasuredBolt => (bolt === 'count' ? new Count(folder) : new Transport(folder));
    builder.setBolt('bolt', make, options).fieldsGrouping(words, 'word');
  },
);

/*
  The job of word-count with a message id for each word, or without as there. The id of a paced word
  is the moment of its emission, so that `ack` knows how long the whole tree took.

  Arguments: bolt (count | transport), tasks of each component, words per second of each spout (0 =
  as many as it can), folder for the samples, words (acked | plain).
*/

import { type FailReason, Spout, topology, type TopologyContext } from 'heron-ts';
import { LatencyHistogram } from '../word-count/latency-histogram.ts';
import {
  Count,
  type MeasuredBolt,
  nowMicros,
  Sampler,
  Transport,
} from '../word-count/measured-bolts.ts';
import { WordRandom, wordList } from '../word-count/words.ts';

const WORDS = 450_000;
/** Task i draws with seed 7 + i. */
const SPOUT_SEED = 7;

abstract class AckedWords extends Spout.of({ default: ['word'] }) {
  protected readonly histogram = new LatencyHistogram();
  readonly #folder: string;
  readonly #words = wordList(WORDS);
  #random = new WordRandom(SPOUT_SEED);
  #sampler: Sampler | undefined;
  #failed = 0;

  constructor(folder: string) {
    super();
    this.#folder = folder;
  }

  override open(context: TopologyContext): void {
    this.#random = new WordRandom(SPOUT_SEED + context.taskIndex);
    const extra = (): object => ({ failed: this.#failed, micros: this.histogram.takeBuckets() });
    this.#sampler = new Sampler(context, this.#folder, extra, 'spout-');
  }

  override fail(_id: unknown, _reason: FailReason): void {
    this.#failed += 1;
  }

  protected word(): string {
    return this.#words[this.#random.below(WORDS)] as string;
  }

  protected acked(): void {
    (this.#sampler as Sampler).executed += 1;
  }
}

/** As many as it can, of which it wants to hear nothing more. */
class PlainWords extends AckedWords {
  override nextTuple(): void {
    this.emit([this.word()]);
  }
}

/** As many as it can; a look at the clock for each word would be half of its work. */
class SaturatedWords extends AckedWords {
  #n = 0;

  override nextTuple(): void {
    this.emit([this.word()], this.#n);
    this.#n += 1;
  }

  override ack(): void {
    this.acked();
  }
}

/** Emits what is due by the clock, so that a late call catches up. */
class PacedWords extends AckedWords {
  readonly #perMicrosecond: number;
  #startedAt = 0;
  #emitted = 0;

  constructor(folder: string, wordsPerSecond: number) {
    super(folder);
    this.#perMicrosecond = wordsPerSecond / 1e6;
  }

  override nextTuple(): void {
    const now = nowMicros();
    if (this.#startedAt === 0) this.#startedAt = now;
    const due = Math.floor((now - this.#startedAt) * this.#perMicrosecond);
    for (; this.#emitted < due; this.#emitted += 1) this.emit([this.word()], nowMicros());
  }

  override ack(emittedAt: number): void {
    this.histogram.record(nowMicros() - emittedAt);
    this.acked();
  }
}

export default topology(
  'bench',
  (builder, [bolt = 'count', tasks = '1', rate = '0', folder = '.', words = 'acked']) => {
    const options = { parallelism: Number(tasks) };
    const makeSpout = (): AckedWords => {
      if (Number(rate) > 0) return new PacedWords(folder, Number(rate));
      return words === 'plain' ? new PlainWords(folder) : new SaturatedWords(folder);
    };
    const spout = builder.setSpout('words', makeSpout, options);
    const make = (): MeasuredBolt => (bolt === 'count' ? new Count(folder) : new Transport(folder));
    builder.setBolt('bolt', make, options).fieldsGrouping(spout, 'word');
  },
);

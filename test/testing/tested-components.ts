import { setTimeout as delay } from 'node:timers/promises';
import {
  BasicBolt,
  Bolt,
  type FailReason,
  fields,
  Spout,
  topology,
  type TopologyContext,
  type Tuple,
} from '../../src/api/index.ts';

/* Components as users write them, for tests of the kit that tests them. */

export class Sentences extends Spout.of({ default: ['sentence'] }) {
  nextTuple(): void {
    throw new Error('a test gives the sentences');
  }
}

export class Split extends BasicBolt.of({ default: ['word'] }) {
  execute(tuple: Tuple<{ sentence: string }>): void {
    for (const word of tuple.get('sentence').split(' ')) this.emit({ word });
  }
}

/** Refuses the empty word. */
export class Count extends BasicBolt.of({
  default: fields<{ word: string; count: number }>()('word', 'count'),
}) {
  readonly counts = new Map<string, number>();

  execute(tuple: Tuple<{ word: string }>): void {
    const word = tuple.get('word');
    if (word === '') throw new Error('there is no word');
    this.counts.set(word, (this.counts.get(word) ?? 0) + 1);
  }

  override finish(): void {
    for (const [word, count] of this.counts) this.emit({ word, count });
  }
}

export const wordCount = topology('word-count', (builder, [splitters = '1']) => {
  const sentences = builder.setSpout('sentences', () => new Sentences());
  const words = builder
    .setBolt('split', () => new Split(), { parallelism: Number(splitters) })
    .shuffleGrouping(sentences);
  builder.setBolt('count', () => new Count(), { parallelism: 2 }).fieldsGrouping(words, 'word');
});

/** Emits what it has gathered every second, anchored to all of it. */
export class Batches extends Bolt.of({ default: ['size'], late: ['value'] }) {
  #batch: Tuple<{ value: number }>[] = [];
  #timer: NodeJS.Timeout | undefined;

  override prepare(): void {
    this.#timer = setInterval(() => this.#send(), 1_000);
  }

  execute(tuple: Tuple<{ value: number }>): void {
    if (tuple.get('value') < 0) throw new Error('a value is below zero');
    if (tuple.get('value') === 0) this.fail(tuple, 'zero');
    else this.#batch.push(tuple);
  }

  override cleanup(): void {
    clearInterval(this.#timer);
  }

  #send(): void {
    const batch = this.#batch;
    if (batch.length === 0) return;
    this.#batch = [];
    this.emit([batch.length], batch);
    for (const tuple of batch) this.ack(tuple);
  }
}

/** Waits as long as its tuples say, and tells when it was done. */
export class Waiting extends BasicBolt.of({ default: ['doneAtMs'] }) {
  #startedAtMs = 0;

  override prepare(): void {
    this.#startedAtMs = Date.now();
  }

  async execute(tuple: Tuple<{ ms: number }>): Promise<void> {
    await delay(tuple.get('ms'));
    this.emit([Date.now() - this.#startedAtMs]);
  }
}

/** Emits 1 to 3 with their number as message id; what fails is emitted again. */
export class Numbers extends Spout.of({ default: ['number'] }) {
  readonly calls: string[] = [];
  #left = [1, 2, 3];

  override open(context: TopologyContext): void {
    this.calls.push(`open ${context.taskIndex} of ${context.parallelism}`);
  }

  async nextTuple(): Promise<void> {
    const number = this.#left.shift();
    if (number === undefined) {
      this.endOfInput();
      return;
    }
    await delay(10);
    this.emit([number], number);
  }

  override ack(messageId: unknown): void {
    this.calls.push(`ack ${String(messageId)}`);
  }

  override fail(messageId: unknown, { kind, error }: FailReason): void {
    const why = error === undefined ? '' : `: ${error.message}`;
    this.calls.push(`fail ${String(messageId)} ${kind}${why}`);
    this.#left.unshift(Number(messageId));
  }

  override activate(): void {
    this.calls.push('activate');
  }

  override deactivate(): void {
    this.calls.push('deactivate');
  }

  override close(): void {
    this.calls.push('close');
  }
}

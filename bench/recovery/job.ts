/*
  The job of bench/recovery: words at an even pace, at least once, over two containers.

      words ──shuffle──► work ──global──► sink

  Arguments: folder for what is measured, words per second of each of the two spouts.

  The sink appends to its file, in microseconds of the machine's monotonic clock:

      {"from":…,"to":…}            nothing came between the two, for GAP_MIN_MS or longer
      {"via":…,"at":…,"emitted":…} what came last by this task of work, when, when it was emitted

  and each spout the reason of every word of it that failed, a line for each.
*/

import { appendFileSync, createWriteStream, type WriteStream } from 'node:fs';
import {
  BasicBolt,
  type FailReason,
  fields,
  Spout,
  topology,
  type TopologyContext,
  type Tuple,
} from 'heron-ts';
import { nowMicros } from '../word-count/measured-bolts.ts';

/** Shorter ones are those of a busy machine and of the pace. */
const GAP_MIN_MS = 10;
const WRITE_EVERY_MS = 10;

class Words extends Spout.of({ default: fields<{ emitted: number }>()('emitted') }) {
  readonly #folder: string;
  readonly #perMicrosecond: number;
  #file = '';
  #startedAt = 0;
  #emitted = 0;

  constructor(folder: string, wordsPerSecond: number) {
    super();
    this.#folder = folder;
    this.#perMicrosecond = wordsPerSecond / 1e6;
  }

  override open(context: TopologyContext): void {
    this.#file = `${this.#folder}/fails-${context.taskId}`;
  }

  override nextTuple(): void {
    const now = nowMicros();
    if (this.#startedAt === 0) this.#startedAt = now;
    const due = Math.floor((now - this.#startedAt) * this.#perMicrosecond);
    // What was due while nobody asked is left out: a flood would hide how soon things go on.
    if (this.#emitted < due) this.emit({ emitted: now }, now);
    this.#emitted = due;
  }

  override fail(_id: unknown, { kind }: FailReason): void {
    appendFileSync(this.#file, `${kind}\n`);
  }
}

class Work extends BasicBolt.of({
  default: fields<{ emitted: number; via: number }>()('emitted', 'via'),
}) {
  #task = 0;

  override prepare(context: TopologyContext): void {
    this.#task = context.taskId;
  }

  override execute(tuple: Tuple<{ emitted: number }>): void {
    this.emit({ emitted: tuple.get('emitted'), via: this.#task });
  }
}

class Sink extends BasicBolt.of({}) {
  readonly #folder: string;
  readonly #latest = new Map<number, { readonly at: number; readonly emitted: number }>();
  #file: WriteStream | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastAt = 0;

  constructor(folder: string) {
    super();
    this.#folder = folder;
  }

  override prepare(): void {
    this.#file = createWriteStream(`${this.#folder}/sink`, { flags: 'a' });
    this.#timer = setInterval(() => this.#writeLatest(), WRITE_EVERY_MS);
  }

  override execute(tuple: Tuple<{ emitted: number; via: number }>): void {
    const at = nowMicros();
    if (this.#lastAt > 0 && at - this.#lastAt >= GAP_MIN_MS * 1_000) {
      this.#write({ from: this.#lastAt, to: at });
    }
    this.#lastAt = at;
    this.#latest.set(tuple.get('via'), { at, emitted: tuple.get('emitted') });
  }

  override cleanup(): void {
    clearInterval(this.#timer);
    this.#writeLatest();
    this.#file?.end();
  }

  #writeLatest(): void {
    for (const [via, { at, emitted }] of this.#latest) this.#write({ via, at, emitted });
    this.#latest.clear();
  }

  #write(line: object): void {
    this.#file?.write(`${JSON.stringify(line)}\n`);
  }
}

export default topology('recovery', (builder, [folder = '.', wordsPerSecond = '1000']) => {
  const two = { parallelism: 2 };
  builder.setConfig({ 'topology.stmgrs': 2, 'topology.reliability.mode': 'ATLEAST_ONCE' });
  const words = builder.setSpout('words', () => new Words(folder, Number(wordsPerSecond)), two);
  const work = builder.setBolt('work', () => new Work(), two).shuffleGrouping(words);
  builder.setBolt('sink', () => new Sink(folder)).globalGrouping(work);
});

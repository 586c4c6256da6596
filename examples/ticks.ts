/*
  A bolt with a clock. Tuples come at their own pace; twice a second the bolt gets a tick and emits
  what it has counted since the last one, so that whoever reads it has little to do.

      heron run local/$USER/dev examples/ticks.ts ticks $PWD/counts.txt 300

  Arguments: the file for the result, then how many events, which come every 5 milliseconds.
*/

import { setTimeout as delay } from 'node:timers/promises';
import { BasicBolt, fields, Spout, topology, type Tuple } from 'heron-ts';
import { SortedLines } from './sorted-lines.ts';

interface Count {
  readonly kind: string;
  readonly count: number;
}

const KINDS = ['view', 'click', 'view', 'buy', 'view'];
const PAUSE_MS = 5;
const TICK_MS = 500;

class Events extends Spout.of({ default: fields<{ kind: string }>()('kind') }) {
  readonly #count: number;
  #n = 0;

  constructor(count: number) {
    super();
    this.#count = count;
  }

  override async nextTuple(): Promise<void> {
    if (this.#n === this.#count) {
      this.endOfInput();
      return;
    }
    await delay(PAUSE_MS);
    this.emit({ kind: KINDS[this.#n % KINDS.length] ?? '' });
    this.#n += 1;
  }
}

class CountSinceTick extends BasicBolt.of({ default: fields<Count>()('kind', 'count') }) {
  readonly #counts = new Map<string, number>();

  override execute(tuple: Tuple<{ kind: string }>): void {
    const kind = tuple.get('kind');
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  override tick(): void {
    for (const [kind, count] of this.#counts) this.emit({ kind, count });
    this.#counts.clear();
  }

  /** What has come since the last tick. */
  override finish(): void {
    this.tick();
  }
}

/** Adds up, and remembers how many partial counts it took. */
class Total extends BasicBolt.of({
  default: fields<Count & { parts: string }>()('kind', 'count', 'parts'),
}) {
  readonly #counts = new Map<string, number[]>();

  override execute(tuple: Tuple<Count>): void {
    const kind = tuple.get('kind');
    this.#counts.set(kind, [...(this.#counts.get(kind) ?? []), tuple.get('count')]);
  }

  override finish(): void {
    for (const [kind, counts] of this.#counts) {
      const count = counts.reduce((sum, part) => sum + part, 0);
      this.emit({ kind, count, parts: counts.length > 1 ? 'in several parts' : 'at once' });
    }
  }
}

export default topology('ticks', (builder, [result = 'counts.txt', count = '300']) => {
  const events = builder.setSpout('events', () => new Events(Number(count)));
  const counts = builder
    .setBolt('count', () => new CountSinceTick(), {
      config: { 'topology.tick.tuple.freq.ms': TICK_MS },
    })
    .shuffleGrouping(events);
  const totals = builder.setBolt('total', () => new Total()).fieldsGrouping(counts, 'kind');
  builder.setBolt('result', () => new SortedLines(result)).globalGrouping(totals);
});

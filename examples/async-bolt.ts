/*
  A bolt that asks a slow HTTP service about each tuple. `execute` returns a promise, and each task
  asks about up to eight items at once; while the service is slow, so is the spout. A service that
  is busy is asked again; an item for which it stays busy is listed as unknown.

      heron run local/$USER/dev examples/async-bolt.ts async-bolt $PWD/prices.txt http://127.0.0.1:8080 40

  Arguments: the file for the result, where the service is, and how many items to ask it about with
  GET /price/<item>, which answers with a number.
*/

import { setTimeout as delay } from 'node:timers/promises';
import { BasicBolt, fields, Spout, topology, type Tuple } from 'heron-ts';
import { SortedLines } from './sorted-lines.ts';

const ATTEMPTS = 3;
const ATTEMPT_MS_MAX = 5_000;
const RETRY_AFTER_MS = 100;

class Items extends Spout.of({ default: fields<{ item: number }>()('item') }) {
  readonly #count: number;
  #next = 0;

  constructor(count: number) {
    super();
    this.#count = count;
  }

  override nextTuple(): void {
    if (this.#next === this.#count) {
      this.endOfInput();
      return;
    }
    this.emit({ item: this.#next });
    this.#next += 1;
  }
}

class Prices extends BasicBolt.of({
  default: fields<{ item: number; price: string }>()('item', 'price'),
}) {
  readonly #service: string;

  constructor(service: string) {
    super();
    this.#service = service;
  }

  override async execute(tuple: Tuple<{ item: number }>): Promise<void> {
    const item = tuple.get('item');
    this.emit({ item, price: (await this.#ask(item)) ?? 'unknown' });
  }

  async #ask(item: number): Promise<string | undefined> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      try {
        const signal = AbortSignal.timeout(ATTEMPT_MS_MAX);
        const response = await fetch(new URL(`/price/${item}`, this.#service), { signal });
        if (response.ok) return await response.text();
        await response.body?.cancel();
      } catch (error) {
        this.reportError(error);
      }
      await delay(RETRY_AFTER_MS * attempt);
    }
    return undefined;
  }
}

export default topology('async-bolt', (builder, [result = 'prices.txt', service = '', count]) => {
  const items = builder.setSpout('items', () => new Items(Number(count ?? 40)));
  const prices = builder
    .setBolt('prices', () => new Prices(service), { parallelism: 2, concurrency: 8 })
    .shuffleGrouping(items);
  builder.setBolt('result', () => new SortedLines(result)).globalGrouping(prices);
});

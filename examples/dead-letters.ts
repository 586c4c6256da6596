/*
  Sums orders by customer from a file of JSON lines, at least once: no order is lost when a process
  dies. A line that is no JSON becomes a dead letter at once, an order that a bolt throws for when
  its retries are used up; the others are counted.

      heron run local/$USER/dev examples/dead-letters.ts orders $PWD/sums.txt $PWD/orders.jsonl
      heron dead-letters list local/$USER/dev orders

  Arguments: the file for the result, then the files to read, whose lines are
  {"customer": "ada", "amount": 3}.
*/

import { BasicBolt, fields, fileSource, topology, type Tuple } from 'heron-ts';
import { SortedLines } from './sorted-lines.ts';

interface Order {
  readonly customer: string;
  readonly amount: number;
}

/** Whoever needs its sums to survive a crash keeps them outside, by an id of each order. */
class Sum extends BasicBolt.of({
  default: fields<{ customer: string; sum: number }>()('customer', 'sum'),
}) {
  readonly #sums = new Map<string, number>();

  override execute(tuple: Tuple<Order>): void {
    const { customer, amount } = { customer: tuple.get('customer'), amount: tuple.get('amount') };
    if (!(amount > 0)) throw new Error(`an order of ${amount}`);
    this.#sums.set(customer, (this.#sums.get(customer) ?? 0) + amount);
  }

  override finish(): void {
    for (const [customer, sum] of this.#sums) this.emit({ customer, sum });
  }
}

export default topology('dead-letters', (builder, [result = 'sums.txt', ...files]) => {
  builder.setConfig({
    'topology.reliability.mode': 'ATLEAST_ONCE',
    'topology.retry.limit': 2,
  });
  const orders = builder.setSpout(
    'orders',
    fileSource(files, {
      fields: fields<Order>()('customer', 'amount'),
      parse: (line) => JSON.parse(line) as Order,
    }),
  );
  const sums = builder
    .setBolt('sum', () => new Sum(), { parallelism: 2 })
    .fieldsGrouping(orders, 'customer');
  builder.setBolt('write', () => new SortedLines(result)).globalGrouping(sums);
});

/*
  A grouping of one's own. Fields grouping would give each customer to one task, and the task of the
  one customer who orders most would have more to do than all others together. Here that customer
  gets a task alone, and the others share the rest.

      heron run local/$USER/dev examples/custom-grouping.ts custom-grouping $PWD/orders.txt

  Argument: the file for the result.
*/

import {
  BasicBolt,
  type CustomGrouping,
  fields,
  type GroupedStream,
  Spout,
  topology,
  type TopologyContext,
  type Tuple,
} from 'heron-ts';
import { SortedLines } from './sorted-lines.ts';

interface Order {
  readonly customer: number;
  readonly amount: number;
}

const LARGEST_CUSTOMER = 7;
const ORDERS = 120;

class Orders extends Spout.of({ default: fields<Order>()('customer', 'amount') }) {
  #n = 0;

  override nextTuple(): void {
    if (this.#n === ORDERS) {
      this.endOfInput();
      return;
    }
    // Every other order is the largest customer's.
    const customer = this.#n % 2 === 0 ? LARGEST_CUSTOMER : Math.floor(this.#n / 2) % 6;
    this.emit({ customer, amount: 10 });
    this.#n += 1;
  }
}

/** The first task for the largest customer, each of the other tasks for some of the others. */
class LargestAlone implements CustomGrouping<readonly [customer: number, amount: number]> {
  #first: readonly number[] = [];
  #others: readonly number[] = [];

  prepare(_context: TopologyContext, { targetTasks }: GroupedStream): void {
    this.#first = targetTasks.slice(0, 1);
    this.#others = targetTasks.slice(1);
  }

  chooseTasks([customer]: readonly [number, number]): readonly number[] {
    if (customer === LARGEST_CUSTOMER) return this.#first;
    const index = customer % this.#others.length;
    return this.#others.slice(index, index + 1);
  }
}

class Sum extends BasicBolt.of({
  default: fields<{ task: string; customers: string; sum: number }>()('task', 'customers', 'sum'),
}) {
  readonly #customers = new Set<number>();
  #taskIndex = 0;
  #sum = 0;

  override prepare(context: TopologyContext): void {
    this.#taskIndex = context.taskIndex;
  }

  override execute(tuple: Tuple<Order>): void {
    this.#customers.add(tuple.get('customer'));
    this.#sum += tuple.get('amount');
  }

  override finish(): void {
    const customers = [...this.#customers].toSorted((a, b) => a - b).join(',');
    this.emit({ task: `task ${this.#taskIndex}:`, customers, sum: this.#sum });
  }
}

export default topology('custom-grouping', (builder, [result = 'orders.txt']) => {
  const orders = builder.setSpout('orders', () => new Orders());
  const sums = builder
    .setBolt('sum', () => new Sum(), { parallelism: 3 })
    .customGrouping(orders, () => new LargestAlone());
  builder.setBolt('result', () => new SortedLines(result)).globalGrouping(sums);
});

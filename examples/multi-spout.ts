/*
  A bolt that reads three spouts. Each tuple says where it comes from, and fields grouping brings
  all that is about one account to the same task, whichever spout it comes from.

      heron run local/$USER/dev examples/multi-spout.ts multi-spout $PWD/balances.txt

  Argument: the file for the result.
*/

import { BasicBolt, fields, Spout, topology, type Tuple } from 'heron-ts';
import { SortedLines } from './sorted-lines.ts';

interface Booking {
  readonly account: string;
  readonly cents: number;
}

const ACCOUNTS = ['ada', 'grace', 'edsger'];
const DEPOSITS = Array.from({ length: 60 }, (_, n) => booking(n, 1_000 + n));
const WITHDRAWALS = Array.from({ length: 30 }, (_, n) => booking(n, 400));
const FEES = ACCOUNTS.map((account) => ({ account, cents: 25 }));

function booking(n: number, cents: number): Booking {
  return { account: ACCOUNTS[n % ACCOUNTS.length] ?? '', cents };
}

class Bookings extends Spout.of({ default: fields<Booking>()('account', 'cents') }) {
  readonly #left: Booking[];

  constructor(bookings: readonly Booking[]) {
    super();
    this.#left = bookings.toReversed();
  }

  override nextTuple(): void {
    const next = this.#left.pop();
    if (next === undefined) this.endOfInput();
    else this.emit(next);
  }
}

class Balances extends BasicBolt.of({ default: fields<Booking>()('account', 'cents') }) {
  readonly #balances = new Map<string, number>();

  override execute(tuple: Tuple<Booking>): void {
    const account = tuple.get('account');
    const cents = tuple.sourceComponent === 'deposits' ? tuple.get('cents') : -tuple.get('cents');
    this.#balances.set(account, (this.#balances.get(account) ?? 0) + cents);
  }

  override finish(): void {
    for (const [account, cents] of this.#balances) this.emit({ account, cents });
  }
}

export default topology('multi-spout', (builder, [result = 'balances.txt']) => {
  const deposits = builder.setSpout('deposits', () => new Bookings(DEPOSITS));
  const withdrawals = builder.setSpout('withdrawals', () => new Bookings(WITHDRAWALS));
  const fees = builder.setSpout('fees', () => new Bookings(FEES));
  const balances = builder
    .setBolt('balances', () => new Balances(), { parallelism: 2 })
    .fieldsGrouping(deposits, 'account')
    .fieldsGrouping(withdrawals, 'account')
    .fieldsGrouping(fees, 'account');
  builder.setBolt('result', () => new SortedLines(result)).globalGrouping(balances);
});

import {
  BasicBolt,
  DEAD_LETTER_STREAM,
  deadLetterFields,
  type DeadLetterTuple,
  fields,
  fileSource,
  type ReplayableSource,
  ReplayableSpout,
  topology,
  type Tuple,
} from '../../src/api/index.ts';

/* Checked by tsc alone; nothing here runs. What a replayable source may give, and who reads it. */

interface Order {
  readonly id: number;
  readonly customer: string;
}

type OrderStreams = { readonly default: ReturnType<typeof orderFields> };
const orderFields = () => fields<Order>()('id', 'customer');

class OrderSource implements ReplayableSource<OrderStreams, number> {
  committed(): undefined {}
  open(_from: number | undefined): void {}
  next() {
    return { position: 1, values: { id: 1, customer: 'ada' } };
  }
  async commit(_position: number): Promise<void> {}
}

export class WrongSource extends OrderSource {
  // @ts-expect-error The id is a number.
  override next() {
    return { position: 1, values: { id: 'one', customer: 'ada' } };
  }
}

class Orders extends ReplayableSpout.of({ default: orderFields() }) {
  override source() {
    return new OrderSource();
  }
}

/** A source that knows one stream serves a spout that has more. */
class Lettered extends ReplayableSpout.of({
  default: orderFields(),
  [DEAD_LETTER_STREAM]: deadLetterFields,
}) {
  override source(): ReplayableSource<OrderStreams, number> {
    return new OrderSource();
  }
}

export class Others extends ReplayableSpout.of({ default: ['word'] }) {
  // @ts-expect-error It has the field 'word'.
  override source() {
    return new OrderSource();
  }
}

class Check extends BasicBolt.of({}) {
  override execute(_tuple: Tuple<Order>): void {}
}

class Letters extends BasicBolt.of({}) {
  override execute(_letter: Tuple<DeadLetterTuple>): void {}
}

class ByLine extends BasicBolt.of({}) {
  override execute(_tuple: Tuple<{ line: string }>): void {}
}

topology('types', (builder) => {
  const orders = builder.setSpout('orders', () => new Orders());
  const lettered = builder.setSpout('lettered', () => new Lettered());
  const lines = builder.setSpout('lines', fileSource('/data/a'));
  const parsed = builder.setSpout(
    'parsed',
    fileSource(['/data/b'], {
      fields: fields<Order>()('id', 'customer'),
      parse: (line, { offset }) => (line === '' ? undefined : { id: offset, customer: line }),
    }),
  );
  const wrong = { fields: fields<Order>()('id', 'customer'), parse: () => ({ id: 'one' }) };
  // @ts-expect-error The id is a number, and the customer is missing.
  builder.setSpout('wrong', fileSource('/data/b', wrong));
  builder
    .setBolt('check', () => new Check())
    .shuffleGrouping(orders)
    .shuffleGrouping(parsed);
  builder.setBolt('letters', () => new Letters()).shuffleGrouping(lettered, DEAD_LETTER_STREAM);
  // @ts-expect-error The line is not what the bolt reads.
  builder.setBolt('other', () => new Letters()).shuffleGrouping(lines);
  builder.setBolt('by-line', () => new ByLine()).shuffleGrouping(lines);
});

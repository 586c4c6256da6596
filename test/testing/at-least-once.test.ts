import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  BasicBolt,
  Bolt,
  type FailReason,
  Spout,
  topology,
  type Tuple,
} from '../../src/api/index.ts';
import { testTopology } from '../../src/testing/index.ts';

/** Emits 1 to 3, each with its number as message id, and again what has failed. */
class Numbers extends Spout.of({ default: ['number'] }) {
  readonly #left = [1, 2, 3];
  #pending = 0;

  nextTuple(): void {
    const number = this.#left.shift();
    if (number !== undefined) {
      this.#pending += 1;
      this.emit([number], number);
    } else if (this.#pending === 0) this.endOfInput();
  }

  override ack(): void {
    this.#pending -= 1;
  }

  override fail(messageId: unknown, _reason: FailReason): void {
    this.#pending -= 1;
    this.#left.push(Number(messageId));
  }
}

/** Does its work the second time that it gets a tuple. */
class Hesitant extends Bolt.of({}) {
  readonly #seen = new Set<number>();
  readonly #how: 'fails' | 'forgets';

  constructor(how: 'fails' | 'forgets') {
    super();
    this.#how = how;
  }

  execute(tuple: Tuple<{ number: number }>): void {
    const number = tuple.get('number');
    const isFirst = !this.#seen.has(number);
    this.#seen.add(number);
    if (!isFirst) this.ack(tuple);
    else if (this.#how === 'fails') this.fail(tuple, new Error('not yet'));
  }
}

class Poisoned extends BasicBolt {
  #hasThrown = false;

  execute(): void {
    if (this.#hasThrown) return;
    this.#hasThrown = true;
    throw new Error('poison');
  }
}

function numbers(sink: () => Bolt | BasicBolt) {
  return topology('numbers', (builder) => {
    builder.setConfig({
      'topology.reliability.mode': 'ATLEAST_ONCE',
      'topology.message.timeout.secs': '30',
    });
    const source = builder.setSpout('numbers', () => new Numbers());
    builder.setBolt('sink', sink).shuffleGrouping(source);
  });
}

suite('a topology that runs at least once', () => {
  test('what a bolt fails comes again, with the reason', async () => {
    await using run = await testTopology(numbers(() => new Hesitant('fails')));
    await run.toCompletion();
    const settled = run.settled('numbers');
    const fails = settled.flatMap(({ messageId, reason }) => (reason ? [[messageId, reason]] : []));
    assert.equal(settled.length, 6);
    assert.equal(fails.length, 3);
    const [, reason] = fails[0] as [unknown, FailReason];
    assert.equal(reason.kind, 'explicit');
    assert.equal(reason.component, 'sink');
    assert.equal(reason.error?.message, 'not yet');
  });

  test('time-outs pass on simulated time', async () => {
    await using run = await testTopology(numbers(() => new Hesitant('forgets')));
    await run.toCompletion();
    const fails = run.settled('numbers').filter(({ reason }) => reason !== undefined);
    assert.deepEqual(
      fails.map(({ reason }) => reason?.kind),
      ['time-out', 'time-out', 'time-out'],
    );
    assert.ok(fails.every(({ atMs }) => atMs >= 30_000 && atMs < 40_000));
    assert.equal(run.received('sink').length, 6);
  });

  test('what a bolt throws is a reason, too', async () => {
    await using run = await testTopology(numbers(() => new Poisoned()));
    await run.toCompletion();
    const [fail, ...others] = run.settled('numbers').flatMap(({ reason }) => reason ?? []);
    assert.deepEqual(others, []);
    assert.equal(fail?.kind, 'thrown');
    assert.match(fail.error?.message ?? '', /poison/);
  });

  test('a lost instance is a reason, and nothing is missing', async () => {
    await using run = await testTopology(numbers(() => new Hesitant('forgets')));
    await run.until(() => run.received('sink').length === 3);
    run.kill('sink');
    await run.toCompletion();
    const acked = run.settled('numbers').filter(({ reason }) => reason === undefined);
    assert.deepEqual(new Set(acked.map(({ messageId }) => messageId)), new Set([1, 2, 3]));
  });
});

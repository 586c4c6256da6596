import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  BasicBolt,
  Bolt,
  DEAD_LETTER_STREAM,
  deadLetterFields,
  type DeadLetterTuple,
  fields,
  fileSource,
  ReplayableSpout,
  topology,
  type TopologyBuilder,
  type Tuple,
} from '../../src/api/index.ts';
import { createSeededRandom } from '../../src/base/random.ts';
import { testSpout, testTopology } from '../../src/testing/index.ts';
import {
  NumberSource,
  NumberStore,
  numbersFrom,
  RereadingNumberSource,
} from '../support/replayed-spout.ts';
import { SourceDisk } from '../support/source-disk.ts';

/* Replayable spouts in whole topologies, on simulated time: sources, acks, failures, restarts. */

const AT_LEAST_ONCE = {
  'topology.reliability.mode': 'ATLEAST_ONCE',
  'topology.message.timeout.secs': 5,
} as const;

type Numbered = Tuple<{ number: unknown }>;

function define(build: (builder: TopologyBuilder) => void) {
  return topology('replays', (builder) => {
    builder.setConfig(AT_LEAST_ONCE);
    build(builder);
  });
}

describe('a topology with a replayable source', () => {
  it('S13: processes each message of which 20 % fail, in random order', async () => {
    const store = new NumberStore(300);
    const random = createSeededRandom(13);
    const processed = new Set<unknown>();
    class Flaky extends Bolt.of({}) {
      #held: Numbered[] = [];
      override execute(tuple: Numbered): void {
        this.#held.push(tuple);
        // The last ones are held until they time out, and come again.
        while (this.#held.length > random.below(5)) {
          const [one] = this.#held.splice(random.below(this.#held.length), 1);
          if (one === undefined) return;
          if (random.below(5) === 0) this.fail(one, new Error('bad luck'));
          else {
            processed.add(one.get('number'));
            this.ack(one);
          }
        }
      }
    }
    const definition = define((builder) => {
      builder.setConfig({ 'topology.retry.limit': 100, 'topology.retry.backoff.max.ms': 300 });
      const numbers = builder.setSpout('numbers', () => numbersFrom(() => new NumberSource(store)));
      builder.setBolt('flaky', () => new Flaky()).shuffleGrouping(numbers);
    });
    await using run = await testTopology(definition);
    const { result } = await run.toCompletion();
    assert.equal(result, 'completed');
    assert.equal(processed.size, 300);
    assert.equal(store.committed, 300);
    assert.ok(run.emitted('numbers').length > 330, 'some have come again');
  });

  it('S15: goes on when a message that has failed is not at its source any more', async () => {
    const store = new NumberStore(50);
    class Deleting extends BasicBolt.of({}) {
      override execute(tuple: Numbered): void {
        if (tuple.get('number') !== 20) return;
        store.deleted.add(20);
        throw new Error('compacted');
      }
    }
    const definition = define((builder) => {
      const make = () => numbersFrom(() => new RereadingNumberSource(store));
      const numbers = builder.setSpout('numbers', make);
      builder.setBolt('deleting', () => new Deleting()).shuffleGrouping(numbers);
    });
    await using run = await testTopology(definition);
    assert.equal((await run.toCompletion()).result, 'completed');
    assert.equal(store.committed, 50);
    const lost = run.errors('numbers').map(({ error }) => (error as Error).message);
    assert.deepEqual(lost, [
      'lost at source: the message at 20 is not there any more, after it had failed (thrown)',
    ]);
  });

  it('O38: survives one bad record in a hundred, of each kind', async () => {
    const disk = new SourceDisk();
    const lines = Array.from({ length: 400 }, (_, id) => Buffer.from(`{"id":${id}}\n`));
    lines[50] = Buffer.from('{"id":50\n');
    lines[150] = Buffer.from('{"id":"\xff\xfe"}\n', 'latin1');
    disk.put('/in', Buffer.concat(lines));
    const processed: unknown[] = [];
    class Check extends BasicBolt.of({ default: ['id'] }) {
      override execute(tuple: Tuple<{ id: number }>): void {
        if (tuple.get('id') === 250) throw new Error('poison');
        this.emit([tuple.get('id')]);
      }
    }
    class Store extends BasicBolt.of({}) {
      override async execute(tuple: Tuple<{ id: unknown }>): Promise<void> {
        const id = await Promise.resolve(tuple.get('id'));
        if (id === 350) throw new Error('refused');
        processed.push(id);
      }
    }
    const definition = define((builder) => {
      const source = fileSource('/in', {
        files: disk,
        positions: '/positions',
        fields: fields<{ id: number }>()('id'),
        parse: (line) => JSON.parse(line) as { id: number },
      });
      const records = builder.setSpout('records', source);
      const check = builder.setBolt('check', () => new Check()).shuffleGrouping(records);
      builder.setBolt('store', () => new Store(), { concurrency: 4 }).shuffleGrouping(check);
    });
    await using run = await testTopology(definition);
    assert.equal((await run.toCompletion()).result, 'completed');
    const bad = new Set([50, 150, 250, 350]);
    const good = Array.from({ length: 400 }, (_, id) => id).filter((id) => !bad.has(id));
    assert.deepEqual(
      processed.map(Number).toSorted((a, b) => a - b),
      good,
      'each of the others, and none twice',
    );
    const givenUp = run
      .logs('records')
      .map(({ message }) => message)
      .filter((message) => message.includes('was given up'));
    const reasons = givenUp.map((text) =>
      text.replace(/^.*given up/, '').replace(/JSON.*/, 'JSON'),
    );
    assert.deepEqual(
      new Set(reasons),
      new Set([
        ": unreadable: Expected ',' or '}' after property value in JSON",
        ': unreadable: the line is not UTF-8',
        ' after 6 tries: thrown: poison',
        ' after 6 tries: thrown: refused',
      ]),
    );
    assert.equal(givenUp.length, 4);
    const isPosition = /^\/positions\/records-[0-9a-f]{16}\.json$/;
    const position = [...disk.contents].find(([path]) => isPosition.test(path));
    const { offset } = JSON.parse(Buffer.from(position?.[1] ?? []).toString()) as {
      offset: number;
    };
    assert.equal(offset, disk.contents.get('/in')?.length);
  });

  it('O38: hands its dead letters to a bolt where it has a stream for them', async () => {
    const store = new NumberStore(100);
    class Lettered extends ReplayableSpout.of({
      default: ['number'],
      [DEAD_LETTER_STREAM]: deadLetterFields,
    }) {
      override source() {
        return new RereadingNumberSource(store);
      }
    }
    class Poisoned extends BasicBolt.of({}) {
      override execute(tuple: Numbered): void {
        if (tuple.get('number') === 42) throw new Error('poison');
      }
    }
    class Letters extends BasicBolt.of({}) {
      override execute(_letter: Tuple<DeadLetterTuple>): void {}
    }
    const definition = define((builder) => {
      const numbers = builder.setSpout('numbers', () => new Lettered());
      builder.setBolt('poisoned', () => new Poisoned()).shuffleGrouping(numbers);
      const letters = builder.setBolt('letters', () => new Letters());
      letters.shuffleGrouping(numbers, DEAD_LETTER_STREAM);
    });
    await using run = await testTopology(definition);
    assert.equal((await run.toCompletion()).result, 'completed');
    const [letter, ...others] = run.received('letters');
    assert.deepEqual(others, []);
    const { values, position, attempts, kind, component, message } = letter ?? {};
    assert.deepEqual(
      { values, position, attempts, kind, component, message },
      {
        values: { number: 42 },
        position: '42',
        attempts: 6,
        kind: 'thrown',
        component: 'poisoned',
        message: 'poison',
      },
    );
    assert.equal(store.committed, 100);
  });

  it('goes on where it was committed, and loses nothing, when processes die', async () => {
    const store = new NumberStore(200);
    const processed = new Set<unknown>();
    class Collect extends BasicBolt.of({}) {
      override async execute(tuple: Numbered): Promise<void> {
        await new Promise((resolve) => {
          setTimeout(resolve, 50);
        });
        processed.add(tuple.get('number'));
      }
    }
    const definition = define((builder) => {
      builder.setConfig({ 'topology.max.spout.pending': 20 });
      const numbers = builder.setSpout('numbers', () => numbersFrom(() => new NumberSource(store)));
      builder.setBolt('collect', () => new Collect()).shuffleGrouping(numbers);
    });
    await using run = await testTopology(definition);
    await run.advance(2_500);
    run.kill('numbers');
    await run.advance(2_500);
    run.kill('collect');
    await run.toCompletion();
    assert.equal(processed.size, 200);
    assert.equal(store.committed, 200);
    const again = run.emitted('numbers').length - 200;
    assert.ok(again >= 20 && again <= 100, `${again} were emitted again`);
  });
});

describe('a replayable spout alone', () => {
  it('S17: asks a store again that fails at the start', async () => {
    const store = new NumberStore(10);
    store.committed = 4;
    let asked = 0;
    class Failing extends NumberSource {
      override async committed(): Promise<number | undefined> {
        asked += 1;
        if (asked <= 3) throw new Error('the store is moving');
        return store.committed;
      }
    }
    await using spout = await testSpout(() => numbersFrom(() => new Failing(store)));
    await spout.nextTuple();
    assert.deepEqual(spout.outputs(), [{ number: 5 }]);
    assert.equal(asked, 4);
  });

  it('is told of its messages by the ids that it has emitted', async () => {
    const store = new NumberStore(2);
    await using spout = await testSpout(() => numbersFrom(() => new NumberSource(store)));
    await spout.nextTuple(2);
    const [one, two] = spout.emitted;
    await spout.fail(one?.messageId);
    await spout.ack(two?.messageId);
    await spout.advance(1_000);
    await spout.nextTuple();
    assert.deepEqual(
      spout.outputs().map((values) => (values as { readonly number: number }).number),
      [1, 2, 1],
    );
    assert.deepEqual(store.commits, []);
    await spout.ack(spout.emitted[2]?.messageId);
    await spout.advance(1_000);
    assert.deepEqual(store.commits, [2]);
  });
});

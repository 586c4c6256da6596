import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  BasicBolt,
  Spout,
  topology,
  type Tuple,
  type ValueSerializer,
} from '../../../src/api/index.ts';
import {
  crashOnce,
  hangFor,
  pauseFor,
  spoutFrom,
  testTopology,
  throwOnce,
  tupleFor,
} from '../../../src/testing/index.ts';
import { Count, Split, wordCount } from '../../testing/tested-components.ts';

const sentences = spoutFrom(['a b', 'b c', 'c d']);

describe('a topology in a test', () => {
  it('runs to completion with exact results', async () => {
    await using run = await testTopology(wordCount, { components: { sentences } });
    const { result, losses } = await run.toCompletion();
    assert.equal(result, 'completed');
    assert.deepEqual(losses, []);
    assert.deepEqual(run.outputs('sentences'), [
      { sentence: 'a b' },
      { sentence: 'b c' },
      { sentence: 'c d' },
    ]);
    assert.deepEqual(wordsOf(run.received('count')), ['a', 'b', 'b', 'c', 'c', 'd']);
    const counts = run
      .outputs('count')
      .map(({ word, count }) => `${String(word)} ${String(count)}`);
    assert.deepEqual(counts.toSorted(), ['a 1', 'b 2', 'c 2', 'd 1']);
  });

  it('is the same in every run of a seed', async () => {
    const logs = await Promise.all(
      [7, 7, 8].map(async (seed) => {
        await using run = await testTopology(wordCount, { components: { sentences }, seed });
        await run.toCompletion();
        return run.eventLog;
      }),
    );
    assert.equal(logs[0], logs[1]);
    assert.notEqual(logs[0], logs[2]);
  });

  it('shares the items of a script among tasks, or gives each its own', async () => {
    await using shared = await testTopology(wordCount, {
      components: { sentences },
      parallelism: { sentences: 2 },
    });
    await shared.toCompletion();
    assert.equal(shared.outputs('sentences', { taskIndex: 0 }).length, 2);
    assert.equal(shared.outputs('sentences', { taskIndex: 1 }).length, 1);

    await using own = await testTopology(wordCount, {
      components: { sentences: spoutFrom((taskIndex) => [`of ${taskIndex}`]) },
      parallelism: { sentences: 2 },
    });
    await own.toCompletion();
    assert.deepEqual(own.outputs('sentences', { taskIndex: 1 }), [{ sentence: 'of 1' }]);
  });

  it('goes on after faults in the input', async () => {
    await using run = await testTopology(wordCount, {
      components: {
        sentences: spoutFrom([
          'a b',
          crashOnce(),
          'b c',
          throwOnce(new Error('the broker is gone')),
          'c d',
          hangFor(5_000),
          'd e',
          pauseFor(2_000),
          'e f',
        ]),
      },
    });
    const { result, losses } = await run.toCompletion();
    assert.equal(result, 'completed-with-losses');
    assert.equal(losses.length, 2);
    assert.equal(run.restarts('sentences'), 2);
    assert.deepEqual(
      run.errors().map(({ component, method, error }) => [component, method, String(error)]),
      [['sentences', 'nextTuple', 'Error: the broker is gone']],
    );
    const words = wordsOf(run.received('count'));
    assert.deepEqual(words, ['a', 'b', 'b', 'c', 'c', 'd', 'd', 'e', 'e', 'f']);
    assert.ok(run.nowMs > 7_000, 'the hang and the pause took their time');
  });

  it('kills a task, which starts with an empty state', async () => {
    await using run = await testTopology(wordCount, {
      components: { sentences: spoutFrom(['a', pauseFor(1_000), 'a', pauseFor(10_000), 'a']) },
      parallelism: { count: 1 },
    });
    await run.until(() => run.received('count').length === 2);
    const before = run.component(Count, 'count');
    run.kill('count');
    await run.advance(5_000);
    assert.equal(run.restarts('count'), 1);
    assert.notEqual(run.component(Count, 'count'), before);
    const { losses } = await run.toCompletion();
    assert.deepEqual(
      losses.map(({ signal }) => signal),
      ['SIGKILL'],
    );
    assert.deepEqual(run.outputs('count'), [{ word: 'a', count: 1 }]);
  });

  it('kills a stream manager, and everything finds together again', async () => {
    await using run = await testTopology(wordCount, {
      components: { sentences: spoutFrom(['a', pauseFor(5_000), 'b']) },
    });
    await run.until(() => run.received('count').length === 1);
    run.killProcess('stmgr-1');
    await run.toCompletion();
    assert.deepEqual(wordsOf(run.received('count')), ['a', 'b']);
    assert.deepEqual(
      run.exits.slice(0, 1).map(({ name }) => name),
      ['stmgr-1'],
    );
  });

  it('is paused and activated', async () => {
    await using run = await testTopology(wordCount, { components: { sentences }, active: false });
    await run.advance(5_000);
    assert.deepEqual(run.outputs('sentences'), []);
    await run.activate();
    await run.toCompletion();
    assert.equal(run.outputs('sentences').length, 3);
  });

  it('stops in an orderly way', async () => {
    let cleanups = 0;
    class Closing extends Split {
      override cleanup(): void {
        cleanups += 1;
      }
    }
    const endless = spoutFrom(['a'], { ends: false });
    await using run = await testTopology(wordCount, {
      components: { sentences: endless, split: () => new Closing() },
    });
    await run.advance(1_000);
    await run.stop();
    assert.equal(cleanups, 1);
    assert.deepEqual(run.processes, []);
  });

  it('takes arguments, settings and numbers of tasks', async () => {
    await using run = await testTopology(wordCount, {
      args: ['3'],
      config: { 'topology.stmgrs': 3 },
      components: { sentences },
      parallelism: { count: 4 },
    });
    assert.equal(run.components(Split, 'split').length, 3);
    assert.equal(run.components(Count, 'count').length, 4);
    assert.equal(run.processes.filter((name) => name.startsWith('stmgr-')).length, 3);
    await run.toCompletion();
    assert.equal(run.received('count').length, 6);
  });

  it('emits to any stream, with message ids', async () => {
    const acked: unknown[] = [];
    class Orders extends Spout.of({ default: ['id'], late: ['id', 'atMs'] }) {
      nextTuple(): void {}
    }
    class Both extends BasicBolt {
      execute(_tuple: Tuple): void {}
    }
    const orders = topology('orders', (builder) => {
      const source = builder.setSpout('orders', () => new Orders());
      builder
        .setBolt('both', () => new Both())
        .shuffleGrouping(source)
        .shuffleGrouping(source, 'late');
    });
    await using run = await testTopology(orders, {
      components: {
        orders: spoutFrom([
          1,
          { id: 2 },
          [3],
          tupleFor('late', { id: 4, atMs: 5 }, { messageId: 'four' }),
        ]),
      },
    });
    await run.toCompletion();
    assert.deepEqual(acked, []);
    assert.deepEqual(run.received('both', { stream: 'late' }), [{ id: 4, atMs: 5 }]);
    assert.deepEqual(
      run.emitted('orders').map(({ stream, values, messageId }) => [stream, values, messageId]),
      [
        ['default', { id: 1 }, undefined],
        ['default', { id: 2 }, undefined],
        ['default', { id: 3 }, undefined],
        ['late', { id: 4, atMs: 5 }, 'four'],
      ],
    );
  });

  it('is not drowned by a spout without end', async () => {
    class Endless extends Spout.of({ default: ['sentence'] }) {
      nextTuple(): void {
        this.emit(['word']);
      }
    }
    await using run = await testTopology(wordCount, {
      components: { sentences: () => new Endless() },
    });
    await run.advance(200);
    const { length } = run.outputs('sentences');
    assert.ok(length > 1_000 && length < 3_000, `${length} tuples in 200 ms`);
  });

  it('starts an instance again that a timer or a promise of its code has ended', async () => {
    class Broken extends Split {
      override prepare(): void {
        setTimeout(() => {
          throw new Error('thrown by a timer');
        }, 1_000);
        setTimeout(() => void Promise.reject(new Error('nobody waits')), 500);
      }
    }
    await using run = await testTopology(wordCount, {
      components: { sentences: spoutFrom([], { ends: false }), split: () => new Broken() },
    });
    await run.advance(800);
    assert.equal(run.restarts('split'), 1);
    assert.match(run.exits[0]?.reason ?? '', /nobody waits/);
  });

  it('says what each component waits for', async () => {
    await using run = await testTopology(wordCount, {
      components: { sentences: spoutFrom(['a'], { ends: false }) },
      parallelism: { count: 1 },
    });
    await assert.rejects(run.toCompletion({ withinMs: 10_000 }), {
      code: 'RUN_NOT_FINISHED',
      message:
        'the topology has not completed\n' +
        "  'sentences' (task 0) has not said endOfInput()\n" +
        "  'split' (task 0) waits for the end of its input\n" +
        "  'count' (task 0) waits for the end of its input\n" +
        ' , after 10000 simulated ms',
    });
  });

  it('says which component cannot be opened, and why', async () => {
    class Broken extends Split {
      override prepare(): void {
        throw new Error('no such table');
      }
    }
    await assert.rejects(
      testTopology(wordCount, { components: { sentences, split: () => new Broken() } }),
      /'split' \(task 0\) (?:has not|is not)[^]*threw: Error: no such table[^]*after 5 starts/,
    );
  });

  it('refuses what does not fit, with the name that was probably meant', async () => {
    const refusals: [Parameters<typeof testTopology>[1], RegExp][] = [
      [
        { components: { sentence: sentences } },
        /no component 'sentence'; did you mean 'sentences'/,
      ],
      [{ parallelism: { counts: 2 } }, /no component 'counts'; did you mean 'count'/],
      [{ components: { split: sentences } }, /'split' is a bolt/],
      [{ components: { sentences: () => new Split() } }, /'sentences' is a spout: a bolt cannot/],
      [{ components: { split: () => new Count() } }, /same streams: \{ default: \[word\] \}, not/],
    ];
    for (const [options, message] of refusals) {
      await assert.rejects(testTopology(wordCount, options), { code: 'INVALID_ARGUMENT', message });
    }
    await using run = await testTopology(wordCount, { components: { sentences } });
    assert.throws(() => run.outputs('coun'), /did you mean 'count'/);
    assert.throws(() => run.outputs('count', { stream: 'dfault' }), /did you mean 'default'/);
    assert.throws(() => run.outputs('count', { taskIndex: 2 }), /tasks 0 to 1, not task 2/);
    assert.throws(() => run.kill('count', 2), /tasks 0 to 1, not task 2/);
    assert.throws(() => run.killProcess('stmgr-2'), /did you mean 'stmgr-1'/);
    assert.throws(() => run.component(Count, 'split'), /is a Split, not a Count/);
  });

  it('keeps apart the logs of components and of the engine', async () => {
    await using run = await testTopology(wordCount, { components: { sentences } });
    await run.toCompletion();
    assert.ok(run.logs('split').every(({ name }) => /_split_/.test(name)));
    assert.ok(run.logs().some(({ name }) => name === 'stmgr-1'));
  });

  it('leaves nothing behind when it is closed in the middle', async () => {
    const run = await testTopology(wordCount, { components: { sentences } });
    await run.close();
    await run.close();
    assert.deepEqual(run.processes, []);
  });
});

function wordsOf(tuples: readonly Readonly<Record<string, unknown>>[]): string[] {
  return tuples.map(({ word }) => String(word)).toSorted();
}

describe('a topology with a serializer of its own', () => {
  const addresses: ValueSerializer = {
    serialize: (value) => Buffer.from(String(value)),
    deserialize: (bytes) => new URL(Buffer.from(bytes).toString()),
  };
  class Visit extends BasicBolt.of({ default: ['address'] }) {
    override execute(tuple: Tuple<{ address: URL }>): void {
      this.emit({ address: new URL('/next', tuple.get('address')) });
    }
  }
  class Links extends Spout.of({ default: ['address'] }) {
    override nextTuple(): void {
      this.emit({ address: new URL('http://host/first') });
      this.endOfInput();
    }
  }
  const crawl = topology('crawl', (builder) => {
    builder.setSerializer(addresses);
    const links = builder.setSpout('links', () => new Links());
    const visits = builder.setBolt('visit', () => new Visit()).fieldsGrouping(links, 'address');
    builder
      .setBolt('again', () => new Visit(), { parallelism: 2 })
      .fieldsGrouping(visits, 'address');
  });

  it('sends what the engine itself could not', async () => {
    await using run = await testTopology(crawl);
    const { result } = await run.toCompletion();
    assert.equal(result, 'completed');
    assert.deepEqual(
      run.received('again').map(({ address }) => String(address)),
      ['http://host/next'],
    );
  });
});

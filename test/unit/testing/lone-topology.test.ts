import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BasicBolt, isTick, type TopologyContext, type Tuple } from '../../../src/api/index.ts';
import { testBolt } from '../../../src/testing/index.ts';

describe('the topology around a bolt that is tested alone', () => {
  it('emits to the tasks that it names', async () => {
    class Sorting extends BasicBolt.of({ default: ['value'] }) {
      #tasks: readonly number[] = [];
      override prepare(context: TopologyContext): void {
        this.#tasks = context.componentTasks('keep');
      }
      execute(tuple: Tuple<{ value: number }>): void {
        const value = tuple.get('value');
        this.emitDirect(this.#tasks[value % this.#tasks.length] ?? 0, { value });
      }
    }
    await using bolt = await testBolt(() => new Sorting(), {
      input: ['value'],
      directReaders: { default: { keep: 2 } },
    });
    await bolt.sendAll([{ value: 4 }, { value: 5 }, { value: 6 }]);
    const [first, second] = bolt.emitted.map(({ toTask }) => toTask);
    assert.deepEqual(
      bolt.emitted.map(({ toTask }) => toTask),
      [first, second, first],
    );
    assert.notEqual(first, second);
    assert.deepEqual(bolt.failed, []);
  });

  it('gets its ticks, which are nothing that the test has sent', async () => {
    class Ticked extends BasicBolt.of({ default: ['what'] }) {
      execute(tuple: Tuple<{ value: number }>): void {
        this.emit([isTick(tuple) ? 'tick' : tuple.get('value')]);
      }
    }
    await using bolt = await testBolt(() => new Ticked(), {
      input: ['value'],
      config: { 'topology.tick.tuple.freq.ms': 1_000 },
    });
    await bolt.advance(2_500);
    await bolt.send({ value: 1 });
    assert.deepEqual(
      bolt.outputs().map(({ what }) => what),
      ['tick', 'tick', 1],
    );
    assert.equal(bolt.received.length, 1);
    assert.equal(bolt.acked.length, 1);
  });

  it('has the context that the test asks for', async () => {
    let found: unknown;
    class Looking extends BasicBolt {
      override prepare(context: TopologyContext): void {
        const { componentName, taskIndex, parallelism, config } = context;
        found = [componentName, taskIndex, parallelism, config.text('my.own'), config.text('all')];
      }
      execute(): void {}
    }
    await using bolt = await testBolt(() => new Looking(), {
      name: 'looking',
      parallelism: 4,
      taskIndex: 2,
      config: { 'my.own': 5 },
      topologyConfig: { all: 'yes' },
    });
    assert.deepEqual(found, ['looking', 2, 4, '5', 'yes']);
    assert.deepEqual(bolt.errors, []);
  });

  it('runs the timers of the context in the simulated world', async () => {
    class Ticking extends BasicBolt.of({ default: ['atMs'] }) {
      override prepare({ clock }: TopologyContext): void {
        clock.every(1_000, () => this.emit([Date.now() % 10_000]));
      }
      execute(): void {}
    }
    await using bolt = await testBolt(() => new Ticking());
    const [before] = [Date.now() % 10_000];
    await bolt.advance(2_001);
    const times = bolt.outputs().map(({ atMs }) => Number(atMs));
    assert.equal(times.length, 2);
    assert.equal(((times[1] ?? 0) - (times[0] ?? 0) + 10_000) % 10_000, 1_000);
    assert.ok(before >= 0);
  });
});

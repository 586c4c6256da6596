import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BasicBolt, Spout, type TopologyContext, type Tuple } from '../../../src/api/index.ts';
import { testBolt, testSpout } from '../../../src/testing/index.ts';

class Shards extends Spout.of({ default: ['shard'] }) {
  readonly seen: string[] = [];
  #context: TopologyContext | undefined;
  #next = 0;

  override open(context: TopologyContext): void {
    this.#context = context;
  }
  override nextTuple(): void {
    const { taskIndex = 0, parallelism = 1 } = this.#context ?? {};
    this.emit({ shard: taskIndex + this.#next * parallelism });
    this.#next += 1;
  }
  override async update(context: TopologyContext): Promise<void> {
    const { taskIndex, parallelism, isRetiring, config } = context;
    this.seen.push(`${taskIndex} of ${parallelism}, ${isRetiring}, ${config.text('color')}`);
    this.#next = 0;
    await new Promise((resolve) => setTimeout(resolve, 10));
    this.seen.push('told');
  }
}

class Teller extends BasicBolt.of({ default: ['word'] }) {
  #context: TopologyContext | undefined;
  fails = false;

  override prepare(context: TopologyContext): void {
    this.#context = context;
  }
  override execute(tuple: Tuple<{ word: string }>): void {
    for (const task of this.#context?.componentTasks('count') ?? []) {
      this.emitDirect(task, { word: tuple.get('word') });
    }
  }
  override update(): void {
    if (this.fails) throw new RangeError('not now');
  }
}

describe('an update of a component alone', () => {
  it('is seen by the component when it resolves', async () => {
    await using spout = await testSpout(() => new Shards(), { parallelism: 2, taskIndex: 1 });
    await spout.nextTuple(2);
    await spout.update({ parallelism: 4 });
    assert.deepEqual(spout.component.seen, ['1 of 4, false, undefined', 'told']);
    await spout.nextTuple(2);
    await spout.update({ taskIndex: 0, config: { color: 'red' } });
    await spout.update({ topologyConfig: { color: 'blue' } });
    await spout.nextTuple();
    assert.deepEqual(
      spout.outputs().map(({ shard }) => shard),
      [1, 3, 1, 5, 0],
    );
    assert.deepEqual(spout.component.seen.slice(2), [
      '0 of 4, false, red',
      'told',
      '0 of 4, false, red',
      'told',
    ]);
  });

  it('takes a task away for which there are too few', async () => {
    await using spout = await testSpout(() => new Shards(), { parallelism: 3, taskIndex: 2 });
    await spout.update({ parallelism: 2 });
    assert.deepEqual(spout.component.seen, ['2 of 2, true, undefined', 'told']);
    await spout.advance(100);
    assert.equal(spout.hasEnded, true);
    await assert.rejects(spout.update({ parallelism: 4 }), /taken away by an earlier update/);
  });

  it('takes a bolt away, which goes on to the end of its input', async () => {
    await using bolt = await testBolt(() => new Teller(), { input: ['word'] });
    await bolt.update({ isRetiring: true });
    await bolt.send({ word: 'a' });
    await bolt.finish();
    assert.equal(bolt.hasEnded, true);
  });

  it('gives a bolt other readers', async () => {
    await using bolt = await testBolt(() => new Teller(), {
      input: ['word'],
      directReaders: { default: { count: 2 } },
    });
    await bolt.send({ word: 'a' });
    await bolt.update({ readers: { count: 3 } });
    await bolt.send({ word: 'b' });
    const tasks = bolt.emitted.map(({ toTask }) => toTask);
    assert.equal(tasks.length, 5);
    assert.equal(new Set(tasks).size, 3);
  });

  it('is refused as a running topology would', async () => {
    await using bolt = await testBolt(() => new Teller(), { input: ['word'] });
    for (const [change, why] of [
      [{ config: { 'topology.bolt.concurrency': '4' } }, /is read when a process starts/],
      [{ taskIndex: 3 }, /there is no task 3 of 1/],
      [{ readers: { nobody: 1 } }, /there is no component 'nobody'/],
    ] as const) {
      await assert.rejects(bolt.update(change), { code: 'INVALID_ARGUMENT', message: why });
    }
  });

  it('rejects with what update throws, which ends the instance', async () => {
    await using bolt = await testBolt(() => new Teller(), { input: ['word'] });
    bolt.component.fails = true;
    await assert.rejects(bolt.update({ parallelism: 2 }), /update of 'bolt' .* failed: not now/);
    await bolt.restart();
    await bolt.update({ parallelism: 3 });
  });

  it('that changes nothing is told to nobody', async () => {
    await using spout = await testSpout(() => new Shards());
    await spout.update({});
    await spout.update({ parallelism: 1 });
    assert.deepEqual(spout.component.seen, []);
  });

  it('outlives a restart', async () => {
    await using spout = await testSpout(() => new Shards());
    await spout.update({ parallelism: 5, taskIndex: 3 });
    await spout.restart();
    await spout.nextTuple(2);
    assert.deepEqual(
      spout.takeOutputs().map(({ shard }) => shard),
      [3, 8],
    );
  });
});

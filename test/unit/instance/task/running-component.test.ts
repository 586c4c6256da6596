import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { BasicBolt } from '../../../../src/api/basic-bolt.ts';
import { Spout } from '../../../../src/api/spout.ts';
import type { TopologyContext } from '../../../../src/api/topology-context.ts';
import type { AnyTuple } from '../../../../src/api/tuple.ts';
import { PlanIndex } from '../../../../src/model/plan-index.ts';
import { changedPlan, grown, Looking, shrunk } from '../../../support/changed-plans.ts';
import { linePlan, TaskInTest } from '../../../support/task-in-test.ts';
import { aTuple } from '../../../support/tuple-sets.ts';

class Wrapping extends BasicBolt.of({ default: ['word'], unread: ['word'] }) {
  override execute(tuple: AnyTuple): void {
    const [word] = tuple.values;
    this.emit('unread', [{ word }]);
    this.emit([word === 'object' ? { word } : word]);
  }
}

test('what cannot be a grouping key is refused where it is emitted (R11)', async () => {
  const task = new TaskInTest(new Wrapping());
  task.feed({ tuples: ['a', 'object', 'b'].map((word) => aTuple(word)) });
  task.feedEnds();
  assert.equal(await task.drive(task.start()), 'ended');
  assert.deepEqual(task.takeFrames(), ['default: a b', 'marker 2']);
  assert.equal(task.exceptions.length, 1);
  assert.match(task.exceptions[0] ?? '', /field 'word' of stream 'default' of 'middle' decides/);
});

/** More than the ring holds, in one call. */
const FLOOD = Array.from({ length: 40 }, (_, index) => `${index}`.padEnd(20_000, 'x'));
const SMALL_RING = { 'heron.instance.queue.bytes': '65536' };
const cannotBlock = { roomWait: () => ({ wait: () => false }) };

class Flood extends Spout.of({ default: ['word'] }) {
  calls = 0;
  override nextTuple(): void {
    this.calls += 1;
    for (const word of FLOOD) this.emit([word]);
    this.endOfInput();
  }
}

class FloodingBolt extends BasicBolt.of({ default: ['word'], unread: ['word'] }) {
  executed = 0;
  override execute(): void {
    this.executed += 1;
    for (const word of FLOOD) this.emit([word]);
  }
}

class Farewell extends BasicBolt.of({ default: ['word'], unread: ['word'] }) {
  override execute(): void {}
  override cleanup(): void {
    for (const word of FLOOD) this.emit([word]);
  }
}

describe('a component on a thread that cannot wait inside emit', () => {
  it('has ended when its end, behind all that it has emitted, is in the ring', async () => {
    const spout = new Flood();
    const task = new TaskInTest(spout, { component: 'source', config: SMALL_RING, ...cannotBlock });
    const life = { isOver: false };
    const run = task.start().finally(() => {
      life.isOver = true;
    });
    await task.turn();
    const frames: string[] = [];
    while (!life.isOver) {
      assert.ok(!frames.includes('marker 2'), 'the end is in the ring, and the run is not over');
      frames.push(...task.takeFrames());
      await task.turn();
    }
    frames.push(...task.takeFrames());
    assert.equal(await run, 'ended');
    assert.deepEqual(frames, [...FLOOD.map((word) => `default: ${word}`), 'marker 2']);
    assert.equal(spout.calls, 1);
  });

  it('executes nothing more until what it has emitted has left', async () => {
    const bolt = new FloodingBolt();
    const task = new TaskInTest(bolt, { config: SMALL_RING, ...cannotBlock });
    for (const word of ['a', 'b']) task.feed({ tuples: [aTuple(word)] });
    const run = task.start();
    await task.turn();
    assert.equal(bolt.executed, 1);
    const frames: string[] = [];
    while (bolt.executed === 1) {
      frames.push(...task.takeFrames());
      await task.turn();
    }
    assert.ok(frames.length >= FLOOD.length - 2, 'only the ring holds some of the first call');
    assert.equal(task.running.keptBytes > 0, true);
    task.running.stop();
    task.gateway.closeOutput();
    assert.equal(await run, 'stopped');
  });

  for (const isCut of [false, true]) {
    const until = isCut ? 'cannot leave any more' : 'has left';
    it(`is closed when what its last method has emitted ${until}`, async () => {
      const task = new TaskInTest(new Farewell(), { config: SMALL_RING, ...cannotBlock });
      const run = task.start();
      await task.turn();
      task.running.stop();
      assert.equal(await run, 'stopped');
      const life = { isClosed: false };
      const closing = task.running.close().then(() => {
        life.isClosed = true;
      });
      await task.turn();
      assert.equal(life.isClosed, false);
      if (isCut) task.gateway.closeOutput();
      const frames: string[] = [];
      while (!life.isClosed) {
        if (!isCut) frames.push(...task.takeFrames());
        await task.turn();
      }
      await closing;
      frames.push(...task.takeFrames());
      assert.equal(frames.length === FLOOD.length, !isCut);
    });
  }

  it('fails its run when its end cannot get into the ring any more', async () => {
    const task = new TaskInTest(new Flood(), {
      component: 'source',
      config: SMALL_RING,
      ...cannotBlock,
    });
    const run = task.start();
    await task.turn();
    task.gateway.closeOutput();
    await assert.rejects(run, { code: 'CONNECTION_CLOSED' });
  });
});

class Told extends Spout.of({ default: ['word'] }) {
  readonly calls: string[] = [];

  override nextTuple(): void {}
  override update({ topology }: TopologyContext): void {
    this.calls.push(`update ${topology.state}`);
  }
  override activate(): void {
    this.calls.push('activate');
  }
  override deactivate(): void {
    this.calls.push('deactivate');
  }
}

describe('a change of the plan', () => {
  it('reaches a spout before it is paused, and while it is', async () => {
    const spout = new Told();
    const task = new TaskInTest(spout, { component: 'source' });
    void task.start();
    await task.turn();
    assert.deepEqual(spout.calls, []);
    const paused = { state: 'PAUSED', config: new Map([['color', 'red']]) } as const;
    for (const [number, change] of [
      [2, { state: 'PAUSED' }],
      [3, paused],
      [4, {}],
    ] as const) {
      const plan = changedPlan(number, change);
      task.running.handlePlan(plan);
      task.running.setActive(plan.plan.topology.state === 'RUNNING');
      await task.turn();
    }
    assert.deepEqual(spout.calls, [
      'update PAUSED',
      'deactivate',
      'update PAUSED',
      'update RUNNING',
      'activate',
    ]);
    task.running.handlePlan(changedPlan(2, { state: 'PAUSED' }));
    await task.turn();
    assert.equal(spout.calls.length, 5, 'an old plan is no change');
    task.running.stop();
  });

  for (const concurrency of ['1', '4']) {
    it(`reaches a bolt between two calls, concurrency ${concurrency}`, async () => {
      const gate = Promise.withResolvers<void>();
      const bolt = new Looking();
      bolt.execution = gate.promise;
      const task = new TaskInTest(bolt, { config: { 'topology.bolt.concurrency': concurrency } });
      void task.start();
      task.feed({ tuples: ['a', 'b'].map((word) => aTuple(word)) });
      await task.turn();
      task.running.handlePlan(grown(changedPlan(2), 'source'));
      assert.deepEqual(bolt.context?.componentTasks('source'), [1, 2, 5], 'at once');
      await task.turn();
      const update = '0 of 1, false, undefined, source 1 2 5';
      assert.deepEqual(bolt.calls, concurrency === '1' ? ['a'] : ['a', 'b', update]);
      gate.resolve();
      await task.turn();
      assert.deepEqual(bolt.calls, concurrency === '1' ? ['a', update, 'b'] : ['a', 'b', update]);
      task.running.stop();
    });
  }

  it('that a component cannot see is none', async () => {
    const bolt = new Looking();
    const task = new TaskInTest(bolt);
    void task.start();
    await task.turn();
    const [manager] = linePlan.streamManagers;
    assert.ok(manager);
    const moved = [{ ...manager, host: '127.0.0.9', dataPort: 99, pid: 99 }];
    task.running.handlePlan(new PlanIndex({ ...changedPlan(2).plan, streamManagers: moved }));
    await task.turn();
    assert.deepEqual(bolt.calls, []);
    const config = new Map([['color:runtime', 'blue']]);
    task.running.handlePlan(changedPlan(3, { config }));
    await task.turn();
    assert.deepEqual(bolt.calls, ['0 of 1, false, blue, source 1 2']);
    task.running.stop();
  });

  it('settings of a component win over those of the topology, whenever they were set', async () => {
    const bolt = new Looking();
    const task = new TaskInTest(bolt);
    void task.start();
    const colors = async (ofTopology: readonly string[], ofBolt: readonly string[], at: number) => {
      const entries = (list: readonly string[]) =>
        new Map(list.map((value, index) => [index === 0 ? 'color' : 'color:runtime', value]));
      const components = linePlan.topology.components.map((one) =>
        one.name === 'middle' ? { ...one, config: entries(ofBolt) } : one,
      );
      task.running.handlePlan(changedPlan(at, { config: entries(ofTopology), components }));
      await task.turn();
      return bolt.context?.config.text('color');
    };
    assert.equal(await colors(['a'], [], 2), 'a');
    assert.equal(await colors(['a', 'b'], [], 3), 'b');
    assert.equal(await colors(['a', 'b'], ['c'], 4), 'c');
    assert.equal(await colors(['a', 'b'], ['c', 'd'], 5), 'd');
    task.running.stop();
  });

  it('that leaves the task out changes nothing for it', async () => {
    const bolt = new Looking();
    const task = new TaskInTest(bolt);
    void task.start();
    await task.turn();
    task.running.handlePlan(shrunk(changedPlan(2), [3], 'retiring'));
    await task.turn();
    task.running.handlePlan(shrunk(changedPlan(3), [3], 'gone'));
    await task.turn();
    assert.deepEqual(bolt.calls, ['0 of 0, true, undefined, source 1 2']);
    task.feed({ tuples: [aTuple('a')] });
    await task.turn();
    assert.equal(bolt.calls.at(-1), 'a', 'it goes on until it is stopped');
    task.running.stop();
  });

  it('a spout may have more messages under way, or fewer, from the next call on', async () => {
    class Messages extends Spout.of({ default: ['word'] }) {
      emitted = 0;
      override nextTuple(): void {
        this.emitted += 1;
        this.emit([this.emitted], this.emitted);
      }
    }
    const spout = new Messages();
    const config = {
      'topology.reliability.mode': 'ATLEAST_ONCE',
      'topology.max.spout.pending': '2',
    };
    const task = new TaskInTest(spout, { component: 'source', config });
    void task.start();
    await task.turn();
    assert.equal(spout.emitted, 2);
    const changed = { ...config, 'topology.max.spout.pending:runtime': '5' };
    task.running.handlePlan(changedPlan(2, { config: new Map(Object.entries(changed)) }));
    await task.turn();
    assert.equal(spout.emitted, 5);
    task.running.handlePlan(changedPlan(3, { config: new Map(Object.entries(config)) }));
    await task.turn();
    assert.equal(spout.emitted, 5);
    task.running.stop();
  });

  it('an error of update ends the instance', async () => {
    const spout = new Told();
    Object.assign(spout, {
      async update() {
        await Promise.resolve();
        throw new RangeError('too far');
      },
    });
    const task = new TaskInTest(spout, { component: 'source' });
    const failed = assert.rejects(task.start(), {
      message: "update of 'source' (task 1) failed: too far",
    });
    await task.turn();
    task.running.handlePlan(changedPlan(2, { state: 'PAUSED' }));
    await task.turn();
    await failed;
  });
});

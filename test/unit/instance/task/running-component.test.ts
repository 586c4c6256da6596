import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { BasicBolt } from '../../../../src/api/basic-bolt.ts';
import { Spout } from '../../../../src/api/spout.ts';
import type { TopologyContext } from '../../../../src/api/topology-context.ts';
import type { AnyTuple } from '../../../../src/api/tuple.ts';
import { epoch } from '../../../../src/base/ids.ts';
import { PlanIndex } from '../../../../src/model/plan-index.ts';
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

function aPlan(number: number, state: 'RUNNING' | 'PAUSED' = 'RUNNING') {
  const topology = { ...linePlan.topology, state };
  return new PlanIndex({ ...linePlan, topology, epoch: epoch(number) });
}

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
    for (const [number, state] of [
      [2, 'PAUSED'],
      [3, 'PAUSED'],
      [4, 'RUNNING'],
    ] as const) {
      task.running.handlePlan(aPlan(number, state));
      task.running.setActive(state === 'RUNNING');
      await task.turn();
    }
    assert.deepEqual(spout.calls, [
      'update PAUSED',
      'deactivate',
      'update PAUSED',
      'update RUNNING',
      'activate',
    ]);
    task.running.handlePlan(aPlan(2, 'PAUSED'));
    await task.turn();
    assert.equal(spout.calls.length, 5, 'an old plan is no change');
    task.running.stop();
  });

  it('reaches a bolt between two tuples', async () => {
    const gate = Promise.withResolvers<void>();
    const calls: string[] = [];
    class Slow extends BasicBolt.of({ default: ['word'], unread: [] }) {
      override async execute({ values }: { values: readonly unknown[] }): Promise<void> {
        calls.push(String(values[0]));
        await gate.promise;
      }
      override update(): void {
        calls.push('update');
      }
    }
    const task = new TaskInTest(new Slow());
    void task.start();
    task.feed({ tuples: ['a', 'b'].map((word) => aTuple(word)) });
    await task.turn();
    task.running.handlePlan(aPlan(2));
    await task.turn();
    assert.deepEqual(calls, ['a']);
    gate.resolve();
    await task.turn();
    assert.deepEqual(calls, ['a', 'update', 'b']);
    task.running.stop();
  });

  it('an error of update ends the instance', async () => {
    const spout = new Told();
    Object.assign(spout, {
      update() {
        throw new RangeError('too far');
      },
    });
    const task = new TaskInTest(spout, { component: 'source' });
    const failed = assert.rejects(task.start(), {
      message: "update of 'source' (task 1) failed: too far",
    });
    await task.turn();
    task.running.handlePlan(aPlan(2));
    await task.turn();
    await failed;
  });
});

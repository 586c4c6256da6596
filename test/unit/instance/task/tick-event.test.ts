import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BasicBolt } from '../../../../src/api/basic-bolt.ts';
import { Bolt } from '../../../../src/api/bolt.ts';
import { isTick, type TickTuple } from '../../../../src/api/tick.ts';
import type { AnyTuple } from '../../../../src/api/tuple.ts';
import { TaskInTest } from '../../../support/task-in-test.ts';
import { aTuple } from '../../../support/tuple-sets.ts';

const TICKS = { config: { 'topology.tick.tuple.freq.ms': '100' } };
const STREAMS = { default: ['word'], unread: [] } as const;

/** Treats ticks in `execute`; `on` is called for everything else. */
class Ticked extends BasicBolt.of(STREAMS) {
  readonly calls: string[] = [];
  on: (self: Ticked) => void | Promise<void> = () => {};
  onTick: (self: Ticked) => void = () => {};

  override execute(tuple: AnyTuple): void | Promise<void> {
    this.calls.push(isTick(tuple) ? 'tick' : String(tuple.values[0]));
    if (isTick(tuple)) this.onTick(this);
    else return this.on(this);
  }
}

function aTask(bolt: Ticked = new Ticked()) {
  const task = new TaskInTest(bolt, TICKS);
  const done = task.start();
  const pass = async (ms: number): Promise<void> => {
    task.clock.advance(ms);
    await task.turn();
  };
  return { bolt, task, done, pass };
}

describe('ticks (row S10)', () => {
  it('come at their interval, and end with the bolt', async () => {
    const { bolt, task, done, pass } = aTask();
    await task.turn();
    await pass(99);
    assert.deepEqual(bolt.calls, []);
    await pass(1);
    await pass(100);
    assert.deepEqual(bolt.calls, ['tick', 'tick']);
    task.feedEnds();
    assert.equal(await task.drive(done), 'ended');
    await task.running.close();
    assert.equal(task.clock.pendingTimers, 0);
  });

  it('go to the method tick when there is one', async () => {
    class WithMethod extends Ticked {
      override tick(tick: TickTuple): void {
        assert.ok(isTick(tick));
        this.calls.push(`tick of ${tick.sourceComponent}, ${tick.get('intervalMs')} ms`);
      }
    }
    const { bolt, task, pass } = aTask(new WithMethod());
    await task.turn();
    await pass(100);
    assert.deepEqual(bolt.calls, ['tick of __system, 100 ms']);
    task.running.stop();
  });

  it('one waits at most after ten intervals of a busy bolt; the next is on time', async () => {
    const gate = Promise.withResolvers<void>();
    const { bolt, task, pass } = aTask();
    bolt.on = () => gate.promise;
    task.feed({ tuples: [aTuple('slow'), aTuple('next')] });
    await task.turn();
    for (let intervals = 0; intervals < 10; intervals += 1) await pass(100);
    assert.deepEqual(bolt.calls, ['slow']);
    gate.resolve();
    await task.turn();
    assert.deepEqual(bolt.calls, ['slow', 'tick', 'next']);
    await pass(99);
    assert.equal(bolt.calls.length, 3);
    await pass(1);
    assert.deepEqual(bolt.calls, ['slow', 'tick', 'next', 'tick']);
    task.running.stop();
  });

  it('go on in the middle of a long set', async () => {
    const { bolt, task, pass } = aTask();
    bolt.on = () => task.clock.advance(60);
    task.feed({ tuples: ['a', 'b', 'c', 'd'].map((word) => aTuple(word)) });
    await task.turn();
    await pass(0);
    assert.deepEqual(bolt.calls, ['a', 'b', 'tick', 'c', 'd', 'tick']);
    task.running.stop();
  });

  it('do not keep tuples waiting, however slow they are', async () => {
    const { bolt, task, pass } = aTask();
    let slowTicks = 5;
    bolt.onTick = () => {
      slowTicks -= 1;
      if (slowTicks >= 0) task.clock.advance(150); // The next one is due before it is over.
    };
    await task.turn();
    task.feed({ tuples: [aTuple('a')] });
    await pass(100);
    assert.deepEqual(bolt.calls.slice(0, 3), ['tick', 'a', 'tick']);
    task.running.stop();
  });

  it('go on under back pressure, for as long as it lasts', async () => {
    const bolt = new Ticked();
    bolt.on = (self) => self.emit(['x'.repeat(1_000)]);
    const task = new TaskInTest(bolt, {
      config: { ...TICKS.config, 'heron.instance.queue.bytes': '65536' },
      roomWait: () => ({ wait: () => false }),
    });
    void task.start();
    const words = Array.from({ length: 100 }, () => aTuple('a'));
    task.feed({ tuples: words }); // More than finds room, and nobody reads it.
    task.feed({ tuples: words });
    await task.turn();
    for (let intervals = 1; intervals <= 20; intervals += 1) {
      task.clock.advance(100);
      await task.turn();
      assert.equal(bolt.calls.length, words.length + intervals);
    }
    assert.ok(bolt.calls.slice(words.length).every((call) => call === 'tick'));
    for (let turns = 0; turns < 10; turns += 1) {
      task.takeFrames();
      await task.turn();
    }
    assert.equal(bolt.calls.length, 2 * words.length + 20);
    task.running.stop();
  });

  it('a BasicBolt survives a failure, and it is told', async () => {
    const { bolt, task, pass } = aTask();
    bolt.onTick = () => {
      throw new RangeError('too far');
    };
    await task.turn();
    await pass(100);
    await pass(100);
    assert.deepEqual(bolt.calls, ['tick', 'tick']);
    assert.equal(task.exceptions[0], "execute of 'middle' (task 3) failed: too far");
    task.running.stop();
  });

  it('are nothing to ack, and a failure ends a Bolt', async () => {
    let acks = 0;
    class Acking extends Bolt.of(STREAMS) {
      override execute(tuple: AnyTuple): void {
        acks += 1;
        this.ack(tuple);
        this.fail(tuple);
        if (acks === 2) throw new RangeError('too far');
      }
    }
    const task = new TaskInTest(new Acking(), TICKS);
    const failed = assert.rejects(task.start(), { code: 'COMPONENT_FAILED' });
    await task.turn();
    task.clock.advance(100);
    await task.turn();
    task.clock.advance(100);
    await failed;
    const names: string[] = [];
    task.running.stop();
    await task.running.close();
    while (task.gateway.metricsOut.next()) {
      const { bytes, start, end } = task.gateway.metricsOut;
      names.push(Buffer.from(bytes.subarray(start, end)).toString());
      task.gateway.metricsOut.release();
    }
    assert.match(names.join(), /"__execute-count\/__system\/__tick",2/);
    assert.doesNotMatch(names.join(), /__ack-count|__fail-count/);
  });
});

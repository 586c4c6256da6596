import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PromiseDoorbell } from '../../../support/promise-doorbell.ts';
import { aTrackedSpout, ofTree } from '../../../support/tracked-spout.ts';

describe('how much a spout has under way', () => {
  it('is limited by topology.max.spout.pending; an ack or a fail wakes it', async () => {
    const config = { 'topology.max.spout.pending': '2' };
    const { task, spout } = aTrackedSpout(['a', 'b', 'c', 'd'], config);
    const [a = 0n, b = 0n, ...none] = await task.emitted(2);
    assert.deepEqual(none, []);
    const calls = spout.calls.length;
    task.clock.advance(1_000);
    await task.turn();
    assert.equal(spout.calls.length, calls, 'nextTuple is not called');
    task.settle({ acks: [ofTree(a)] });
    await task.turn();
    assert.deepEqual(task.takeSent(), ['wc<1:3>']);
    task.settle({ fails: [ofTree(b)] });
    await task.turn();
    assert.deepEqual(task.takeSent(), ['wd<1:4>']);
    task.running.stop();
  });

  it('S04: without time-outs waits for acks however long, and goes on with each', async () => {
    const config = {
      'topology.max.spout.pending': '10',
      'topology.enable.message.timeouts': 'false',
    };
    const ids = Array.from({ length: 30 }, (_, index) => `${index}`);
    const { task, spout } = aTrackedSpout(ids, config);
    task.gateway.status.setForgetsTimeOuts(true);
    let keys = await task.emitted(10);
    for (let round = 0; round < 3; round += 1) {
      assert.equal(keys.length, 10);
      task.clock.advance(3 * 30_000);
      await task.turn();
      assert.deepEqual(spout.takeTold(), []);
      task.settle({ acks: keys.map(ofTree) });
      await task.turn();
      await task.turn();
      assert.equal(spout.takeTold().length, 10);
      keys = task.takeRootKeys();
    }
    task.running.stop();
  });

  it('R12: is nothing new while back pressure holds the spout, and more when it ends', async () => {
    const { task, spout } = aTrackedSpout([]);
    void task.start();
    await task.turn();
    task.setHeld(true);
    await task.turn();
    spout.waiting = ['a'];
    spout.context?.wake();
    const calls = spout.calls.length;
    for (let ms = 0; ms < 100; ms += 1) {
      task.clock.advance(1);
      await task.turn();
    }
    assert.equal(spout.calls.length, calls);
    assert.deepEqual(task.takeSent(), []);
    task.setHeld(false);
    await task.turn();
    assert.deepEqual(task.takeSent(), ['wa<1:1>']);
    task.running.stop();
  });

  it('N2: N3: is told of its messages while the ring is full', async () => {
    const { task, spout } = aTrackedSpout(['a'], { 'topology.max.spout.pending': '100000' });
    const keys = await task.emitted(1);
    let id = 0;
    spout.next = () => spout.emit(['x'.repeat(1_000)], (id += 1));
    spout.context?.wake();
    for (let before = -1; before !== id; ) {
      before = id;
      await task.turn();
    }
    const isFull = id > 1_000;
    task.settle({ acks: keys.map(ofTree) });
    await task.turn();
    assert.deepEqual([isFull, spout.takeTold()], [true, ['ack a']]);
    task.running.stop();
  });

  it('W1: leaves no wait behind when it is stopped', async () => {
    const { task } = aTrackedSpout(['a']);
    await task.emitted(1);
    const bell = task.ports.bell;
    assert.ok(bell instanceof PromiseDoorbell && bell.sleeperCount === 1);
    task.running.stop();
    await task.turn();
    assert.equal(bell.sleeperCount, 0);
  });
});

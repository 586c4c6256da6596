import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aTrackedSpout, ofTree } from '../../../support/tracked-spout.ts';

describe('a spout whose input has ended', () => {
  it('N6: R3: has ended when all its messages are settled', async () => {
    const { task, spout } = aTrackedSpout(['a', 'b']);
    spout.endsWhenEmpty = true;
    const [a = 0n, b = 0n] = await task.emitted(2);
    spout.calls.length = 0;
    task.settle({ acks: [ofTree(b)] });
    task.clock.advance(1_000);
    await task.turn();
    assert.deepEqual(spout.calls, ['ack b'], 'and nextTuple is not called');
    assert.deepEqual(task.takeSent(), [], 'no end yet');
    task.settle({ acks: [ofTree(a)] });
    assert.equal(await task.drive(task.done), 'ended');
    assert.deepEqual(task.takeSent(), ['marker 2']);
  });

  it('N6: emits again what fails, as often as it fails', async () => {
    const { task, spout } = aTrackedSpout(['a', 'b']);
    spout.endsWhenEmpty = true;
    spout.replays = true;
    let keys = await task.emitted(2);
    for (let round = 0; round < 3; round += 1) {
      task.settle({ fails: keys.map(ofTree) });
      await task.turn();
      await task.turn();
      keys = task.takeRootKeys();
      assert.equal(keys.length, 2, 'both are emitted anew');
    }
    task.settle({ acks: keys.map(ofTree) });
    assert.equal(await task.drive(task.done), 'ended');
    assert.deepEqual(task.takeSent(), ['marker 2']);
  });

  it('N6: ends when what fails is not emitted again', async () => {
    const { task, spout } = aTrackedSpout(['a']);
    spout.endsWhenEmpty = true;
    task.settle({ fails: (await task.emitted(1)).map(ofTree) });
    assert.equal(await task.drive(task.done), 'ended');
    assert.deepEqual(spout.calls.slice(-2), ['fail a explicit', 'nextTuple']);
  });

  it('N6: ends although an async nextTuple takes its time to find nothing', async () => {
    const { task, spout } = aTrackedSpout(['a']);
    spout.next = async () => {
      spout.calls.push('nextTuple');
      const id = spout.waiting.shift();
      if (id !== undefined) spout.emit([`w${id}`], id);
      else {
        const { promise, resolve } = Promise.withResolvers<void>();
        task.clock.after(50, resolve);
        await promise;
      }
    };
    const keys = await task.emitted(1);
    task.running.drain();
    task.settle({ fails: keys.map(ofTree) });
    const state = { hasEnded: false };
    void task.done.then(() => (state.hasEnded = true));
    for (let wait = 0; wait < 4 && !state.hasEnded; wait += 1) {
      task.clock.advance(50);
      await task.turn();
    }
    assert.ok(state.hasEnded);
  });

  it('is drained: its messages are settled first, and what fails is emitted again', async () => {
    const { task, spout } = aTrackedSpout(['a']);
    spout.replays = true;
    const keys = await task.emitted(1);
    task.running.drain();
    task.settle({ fails: keys.map(ofTree) });
    await task.turn();
    const again = task.takeRootKeys();
    assert.equal(again.length, 1);
    task.settle({ acks: again.map(ofTree) });
    assert.equal(await task.drive(task.done), 'ended');
  });

  it('is drained while the topology is paused: it ends without another nextTuple', async () => {
    const { task, spout } = aTrackedSpout(['a']);
    spout.replays = true;
    const keys = await task.emitted(1);
    task.running.setActive(false);
    await task.turn();
    spout.calls.length = 0;
    task.running.drain();
    task.settle({ fails: keys.map(ofTree) });
    assert.equal(await task.drive(task.done), 'ended');
    assert.deepEqual(spout.calls, ['fail a explicit']);
  });
});

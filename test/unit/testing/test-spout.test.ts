import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Spout } from '../../../src/api/index.ts';
import { testSpout } from '../../../src/testing/index.ts';
import { Numbers } from '../../testing/tested-components.ts';

describe('a spout alone', () => {
  it('is asked for tuples when the test says so', async () => {
    await using spout = await testSpout(() => new Numbers());
    await spout.advance(1_000);
    assert.deepEqual(spout.outputs(), []);
    await spout.nextTuple();
    assert.deepEqual(spout.outputs(), [{ number: 1 }]);
    await spout.advance(1_000);
    await spout.nextTuple(2);
    assert.deepEqual(spout.outputs(), [{ number: 1 }, { number: 2 }, { number: 3 }]);
    assert.equal(spout.hasEnded, false);
  });

  it('runs until it says that its input has ended', async () => {
    await using spout = await testSpout(() => new Numbers());
    await spout.untilEndOfInput();
    assert.equal(spout.hasEnded, true);
    assert.equal(spout.outputs().length, 3);
    assert.ok(spout.nowMs >= 30, 'three waits of 10 ms');
    await assert.rejects(spout.nextTuple(), /has said endOfInput/);
  });

  it('says so when the input does not end', async () => {
    class Endless extends Spout.of({ default: ['n'] }) {
      nextTuple(): void {
        this.emit([1]);
      }
    }
    await using spout = await testSpout(() => new Endless());
    await assert.rejects(spout.untilEndOfInput({ callsMax: 20 }), {
      code: 'RUN_NOT_FINISHED',
      message: /not said endOfInput\(\) after 20 calls/,
    });
    assert.equal(spout.outputs().length, 20);
  });

  it('hears of the fate of its tuples from the test', async () => {
    await using spout = await testSpout(() => new Numbers());
    await spout.nextTuple(2);
    assert.deepEqual(
      spout.emitted.map(({ messageId }) => messageId),
      [1, 2],
    );
    await spout.ack(1);
    await spout.fail(2, { kind: 'time-out' });
    await spout.nextTuple(2);
    assert.deepEqual(spout.component.calls, ['open 0 of 1', 'ack 1', 'fail 2 time-out']);
    assert.deepEqual(
      spout.outputs().map(({ number }) => number),
      [1, 2, 2, 3],
    );
  });

  it('is paused and activated', async () => {
    await using spout = await testSpout(() => new Numbers(), { active: false });
    await assert.rejects(spout.nextTuple(), /is paused/);
    await spout.activate();
    await spout.nextTuple();
    await spout.deactivate();
    await spout.deactivate();
    await assert.rejects(spout.nextTuple(), /is paused/);
    await spout.ack(1);
    assert.deepEqual(spout.component.calls, ['open 0 of 1', 'activate', 'deactivate', 'ack 1']);
  });

  it('ends at an error, and can be started anew', async () => {
    class Failing extends Spout.of({ default: ['n'] }) {
      nextTuple(): void {
        throw new Error('the source is gone');
      }
      override fail(): void {
        throw new Error('unknown id');
      }
    }
    await using spout = await testSpout(() => new Failing());
    await assert.rejects(spout.nextTuple(3), /nextTuple of 'spout' \(task 1\) failed: the source/);
    await assert.rejects(spout.advance(1), /the source is gone/);
    await spout.restart();
    await spout.advance(100); // What was asked for before the error is not made up for.
    await assert.rejects(spout.fail(1), /unknown id/);
    await assert.rejects(spout.advance(1), /unknown id/);
    assert.deepEqual(
      spout.errors.map(({ method }) => method),
      ['nextTuple', 'fail'],
    );
  });

  it('emits from a timer of its own', async () => {
    class Ticker extends Spout.of({ default: ['n'], ticks: ['atMs'] }) {
      override open(): void {
        setInterval(() => this.emit('ticks', [1]), 100);
      }
      nextTuple(): void {}
    }
    await using spout = await testSpout(() => new Ticker());
    await spout.advance(1_001);
    assert.equal(spout.outputs('ticks').length, 10);
    await spout.nextTuple();
    assert.deepEqual(spout.outputs(), []);
  });

  it('is closed in an orderly way', async () => {
    const spout = await testSpout(() => new Numbers(), { parallelism: 3, taskIndex: 1 });
    const { component } = spout;
    await spout.close();
    assert.deepEqual(component.calls, ['open 1 of 3', 'close']);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AnyTuple } from '../../../../src/api/tuple.ts';
import { Holder, Passing, sent } from '../../../support/tracked-bolts.ts';
import { aTracked, TrackedTask } from '../../../support/tracked-task.ts';

describe('a BasicBolt under at least once', () => {
  async function passing(executeOne?: (tuple: AnyTuple, self: Passing) => unknown) {
    const bolt = new Passing();
    if (executeOne !== undefined) bolt.executeOne = executeOne;
    const task = new TrackedTask(bolt, { config: { 'topology.tick.tuple.freq.ms': '1000' } });
    void task.start();
    await task.turn();
    return { bolt, task };
  }

  it('X7: anchors to the tuple that it executes, and acks when it is done', async () => {
    const { task } = await passing();
    task.feed({ tuples: [aTracked('a', 1n, 10n), aTracked('b', 2n, 20n), aTracked('c', 0n)] });
    assert.deepEqual(await sent(task), ['a<1:10> b<1:20> c', 'ack 1:10=1', 'ack 1:20=2']);
    task.running.stop();
  });

  it('X7: acks when the promise settles, and anchors what is emitted meanwhile', async () => {
    const gate = Promise.withResolvers<void>();
    const { task, bolt } = await passing(async (_, self) => {
      self.emit(['before']);
      await gate.promise;
      self.emit(['after']);
    });
    task.feed({ tuples: [aTracked('a', 1n, 10n)] });
    assert.deepEqual(await sent(task), ['before<1:10>']);
    bolt.emit(['from outside']);
    assert.deepEqual(await sent(task), ['from outside<1:10>']);
    gate.resolve();
    assert.deepEqual(await sent(task), ['after<1:10>', 'ack 1:10=1']);
    task.running.stop();
  });

  for (const [how, fail] of [
    ['throws', () => assert.fail('no number')],
    ['rejects', () => Promise.reject(new Error('no number'))],
  ] as const) {
    it(`O38: fails the tuple when execute ${how}, and goes on with the next one`, async () => {
      const { task } = await passing((tuple, self) => {
        self.emit([tuple.values[0]]);
        return tuple.values[0] === 'bad' ? fail() : undefined;
      });
      task.feed({ tuples: [aTracked('bad', 1n, 10n), aTracked('good', 2n, 20n)] });
      assert.deepEqual(await sent(task), ['bad<1:10>', 'fail 1:10', 'good<1:20>', 'ack 1:20=2']);
      const [reason] = task.reasons;
      assert.deepEqual([reason?.kind, reason?.component, reason?.taskId], [3, 'middle', 3]);
      assert.equal(reason?.message, 'no number');
      assert.match(reason?.stack ?? '', /tuple-acks\.test/);
      task.running.stop();
    });
  }

  it('S10: X7: what ticks, timers and finish emit descends from nothing', async () => {
    const { task, bolt } = await passing();
    bolt.onTick = () => bolt.emit(['tick']);
    bolt.context?.after(1_000, () => bolt.emit(['timer']));
    bolt.finish = () => bolt.emit(['finish']);
    task.feed({ tuples: [aTracked('a', 1n, 10n)] });
    await task.turn();
    task.clock.advance(1_000);
    assert.deepEqual(await sent(task), ['a<1:10>', 'ack 1:10=1', 'tick timer']);
    task.feedEnds();
    assert.deepEqual(await sent(task), ['finish', 'marker 2']);
  });
});

describe('S10: a tick', () => {
  it('in execute is tracked by nobody: acked, failed or ignored, nothing is sent', async () => {
    const bolt = new Holder();
    const task = new TrackedTask(bolt, { config: { 'topology.tick.tuple.freq.ms': '10' } });
    bolt.executeOne = (tuple) => {
      bolt.ack(tuple);
      if (bolt.received.length > 1) bolt.fail(tuple, 'why');
      bolt.emit(['anchored'], tuple);
    };
    void task.start();
    await task.turn();
    for (let tick = 0; tick < 3; tick += 1) {
      task.clock.advance(10);
      await task.turn();
    }
    assert.deepEqual(task.takeSent(), ['anchored', 'anchored', 'anchored']);
    assert.equal(bolt.received.length, 3);
    assert.deepEqual(task.exceptions, []);
    task.running.stop();
  });
});

describe('a bolt that ends its instance by an error', () => {
  for (const [how, fail] of [
    ['throws', () => assert.fail('no number')],
    ['rejects', () => Promise.reject(new Error('no number'))],
  ] as const) {
    it(`O38: has failed the tuple before, when execute ${how}`, async () => {
      const bolt = new Holder();
      const task = new TrackedTask(bolt);
      bolt.executeOne = fail;
      const failed = assert.rejects(task.start(), { code: 'COMPONENT_FAILED' });
      await task.turn();
      task.feed({ tuples: [aTracked('a', 1n, 10n), aTracked('b', 2n, 20n)] });
      await task.drive(failed);
      assert.deepEqual(task.takeSent(), ['fail 1:10']);
      assert.equal(task.reasons[0]?.kind, 3);
      assert.equal(task.reasons[0].message, 'no number');
    });
  }

  it('O38: has not failed a tuple that it had acked', async () => {
    const bolt = new Holder();
    const task = new TrackedTask(bolt);
    bolt.executeOne = (tuple) => {
      bolt.ack(tuple);
      throw new Error('afterwards');
    };
    const failed = assert.rejects(task.start(), { code: 'COMPONENT_FAILED' });
    await task.turn();
    task.feed({ tuples: [aTracked('a', 1n, 10n)] });
    await task.drive(failed);
    assert.deepEqual(task.takeSent(), ['ack 1:10=1']);
  });
});

describe('a BasicBolt that executes several tuples at once', () => {
  const config = { 'topology.bolt.concurrency': '4', 'topology.tick.tuple.freq.ms': '1000' };

  async function concurrent(executeOne: (tuple: AnyTuple, self: Passing) => unknown) {
    const bolt = new Passing();
    bolt.executeOne = executeOne;
    const task = new TrackedTask(bolt, { config });
    void task.start();
    await task.turn();
    return { bolt, task };
  }

  /** Settled by the test, by word. */
  function gates(...words: string[]) {
    return new Map(words.map((word) => [word, Promise.withResolvers<void>()]));
  }

  it('C6: anchors each tuple to the one in whose promises it is emitted', async () => {
    const gate = gates('a', 'b', 'c');
    const { task } = await concurrent(async (tuple, self) => {
      const word = String(tuple.values[0]);
      self.emit([`${word}1`]);
      await gate.get(word)?.promise;
      self.emit([`${word}2`]);
      await Promise.resolve();
      self.emit([`${word}3`]);
    });
    task.feed({
      tuples: [aTracked('a', 1n, 10n), aTracked('b', 2n, 20n), aTracked('c', 3n, 30n)],
    });
    assert.deepEqual(await sent(task), ['a1<1:10> b1<1:20> c1<1:30>']);
    gate.get('b')?.resolve();
    assert.deepEqual(await sent(task), ['b2<1:20> b3<1:20>', 'ack 1:20=2']);
    gate.get('a')?.resolve();
    gate.get('c')?.resolve();
    assert.deepEqual(await sent(task), [
      'a2<1:10> c2<1:30> a3<1:10> c3<1:30>',
      'ack 1:10=1',
      'ack 1:30=3',
    ]);
    task.running.stop();
  });

  it('C6: X7: anchors what ticks emit to nothing while others are pending', async () => {
    const gate = Promise.withResolvers<void>();
    const { task, bolt } = await concurrent(() => gate.promise);
    bolt.onTick = () => bolt.emit(['tick']);
    task.feed({ tuples: [aTracked('a', 1n, 10n)] });
    await task.turn();
    task.clock.advance(1_000);
    assert.deepEqual(await sent(task), ['tick']);
    gate.resolve();
    assert.deepEqual(await sent(task), ['ack 1:10=1']);
    task.running.stop();
  });

  it('C6: O38: fails the one that rejects or throws, and only that', async () => {
    const gate = gates('a', 'b');
    const { task } = await concurrent(async (tuple) => {
      const word = String(tuple.values[0]);
      if (word === 'c') throw new Error('no number');
      await gate.get(word)?.promise;
    });
    task.feed({
      tuples: [aTracked('a', 1n, 10n), aTracked('b', 2n, 20n), aTracked('c', 3n, 30n)],
    });
    assert.deepEqual(await sent(task), ['fail 1:30']);
    gate.get('a')?.reject(new Error('no date'));
    gate.get('b')?.resolve();
    assert.deepEqual((await sent(task)).toSorted(), ['ack 1:20=2', 'fail 1:10']);
    assert.deepEqual(
      task.reasons.map(({ message }) => message),
      ['no number', 'no date'],
    );
    task.running.stop();
  });

  it('A5: acks nothing that was executed across the loss of a connection', async () => {
    const gate = gates('a', 'b');
    const { task } = await concurrent((tuple) => gate.get(String(tuple.values[0]))?.promise);
    task.feed({ tuples: [aTracked('a', 1n, 10n)] });
    await task.turn();
    task.reconnect();
    task.feed({ tuples: [aTracked('b', 2n, 20n)] });
    await task.turn();
    gate.get('a')?.resolve();
    gate.get('b')?.resolve();
    assert.deepEqual(await sent(task), ['marker 3', 'ack 1:20=2']);
    task.running.stop();
  });

  it('O38: a Bolt that throws has failed its tuple before its instance ends', async () => {
    const bolt = new Holder();
    const task = new TrackedTask(bolt, { config });
    bolt.executeOne = () => Promise.reject(new Error('no number'));
    const failed = assert.rejects(task.start(), { code: 'COMPONENT_FAILED' });
    await task.turn();
    task.feed({ tuples: [aTracked('a', 1n, 10n)] });
    await task.drive(failed);
    assert.deepEqual(task.takeSent(), ['fail 1:10']);
  });
});

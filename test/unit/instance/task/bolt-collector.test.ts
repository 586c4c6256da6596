import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Holder, sent } from '../../../support/tracked-bolts.ts';
import { aTracked, TrackedTask } from '../../../support/tracked-task.ts';

async function holding(...keys: readonly bigint[]) {
  const bolt = new Holder();
  const task = new TrackedTask(bolt);
  void task.start();
  await task.turn();
  task.feed({ tuples: keys.map((key) => aTracked(`${key}`, key, key * 10n)) });
  await task.turn();
  assert.equal(bolt.received.length, keys.length);
  assert.deepEqual(task.takeSent(), []);
  return { bolt, task };
}

describe('a bolt that acks', () => {
  it('acks by root and key, in its own time', async () => {
    const { bolt, task } = await holding(1n, 2n);
    bolt.ack(bolt.at(1));
    assert.deepEqual(await sent(task), ['ack 1:20=2']);
    bolt.ack(bolt.at(0));
    assert.deepEqual(await sent(task), ['ack 1:10=1']);
    task.running.stop();
  });

  it('folds the acks of a root into one, with the XOR of the keys', async () => {
    const bolt = new Holder();
    const task = new TrackedTask(bolt);
    bolt.executeOne = (tuple) => bolt.ack(tuple);
    void task.start();
    await task.turn();
    const big = 0x7fff_ffff_0000_0004n;
    task.feed({
      tuples: [aTracked('a', 1n, 5n), aTracked('b', 6n, 5n), aTracked('c', big, 5n, 6n)],
    });
    assert.deepEqual(await sent(task), ['ack 1:5=3', 'ack 1:6=4']);
    task.running.stop();
  });

  it('R13: sends what was emitted before an ack ahead of it', async () => {
    const { bolt, task } = await holding(1n);
    bolt.emit(['a'], bolt.at(0));
    bolt.ack(bolt.at(0));
    bolt.emit(['b']);
    assert.deepEqual(await sent(task), ['a<1:10> b', 'ack 1:10=1']);
    task.running.stop();
  });

  it('sends more acks than a set takes as several sets, all of them', async () => {
    const bolt = new Holder();
    const task = new TrackedTask(bolt);
    void task.start();
    await task.turn();
    for (let at = 0; at < 3_000; at += 100) {
      const keys = Array.from({ length: 100 }, (_, index) => BigInt(at + index + 1));
      task.feed({ tuples: keys.map((key) => aTracked('a', 7n, key)) });
      await task.turn();
    }
    for (const tuple of bolt.received) bolt.ack(tuple);
    const acked = await sent(task);
    assert.deepEqual(
      acked,
      Array.from({ length: 3_000 }, (_, index) => `ack 1:${index + 1}=7`),
    );
    task.running.stop();
  });

  it('A4: twice counts once, also when it fails it then; the first time is reported', async () => {
    const { bolt, task } = await holding(1n, 2n);
    bolt.ack(bolt.at(0));
    bolt.ack(bolt.at(0));
    bolt.fail(bolt.at(0));
    bolt.fail(bolt.at(1));
    bolt.ack(bolt.at(1));
    assert.deepEqual(await sent(task), ['ack 1:10=1', 'fail 1:20']);
    assert.equal(task.exceptions.length, 1);
    assert.match(task.exceptions[0] ?? '', /'default' of 'source' was acked or failed twice/);
    task.running.stop();
  });

  it('of a tuple that nobody tracks sends nothing', async () => {
    const bolt = new Holder();
    const task = new TrackedTask(bolt);
    bolt.executeOne = (tuple) => bolt.ack(tuple);
    void task.start();
    await task.turn();
    task.feed({ tuples: [aTracked('a', 0n)] });
    assert.deepEqual(await sent(task), []);
    task.running.stop();
  });

  it('S12: fails with kind, component, task, message and stack', async () => {
    const { bolt, task } = await holding(1n, 2n, 3n, 4n);
    bolt.fail(bolt.at(0));
    bolt.fail(bolt.at(1), 'no number');
    bolt.fail(bolt.at(2), new Error('no date'));
    bolt.fail(bolt.at(3), new Error('x'.repeat(100_000)));
    assert.deepEqual(await sent(task), ['fail 1:10', 'fail 1:20', 'fail 1:30', 'fail 1:40']);
    const [none, text, error, long] = task.reasons;
    assert.deepEqual([none?.kind, none?.component, none?.taskId], [2, 'middle', 3]);
    assert.equal(none?.message, '');
    assert.equal(text?.message, 'no number');
    assert.equal(error?.message, 'no date');
    assert.match(error?.stack ?? '', /bolt-collector\.test/);
    assert.equal(long?.message.length, 1_001, 'cut');
    assert.ok((long?.stack.length ?? 0) <= 4_001);
    task.running.stop();
  });

  it('A6: fails at once, behind what was emitted and acked before', async () => {
    const { bolt, task } = await holding(1n, 2n);
    bolt.emit(['a'], bolt.at(0));
    bolt.ack(bolt.at(0));
    bolt.fail(bolt.at(1));
    assert.deepEqual(task.takeSent(), ['a<1:10>', 'ack 1:10=1', 'fail 1:20'], 'without a turn');
    task.running.stop();
  });
});

describe('a tuple that a bolt emits', () => {
  it('S09: belongs to the trees of its anchors, each once, and to no other', async () => {
    const bolt = new Holder();
    const task = new TrackedTask(bolt);
    void task.start();
    await task.turn();
    const other = { task: 2, key: 5n };
    task.feed({
      tuples: [aTracked('a', 1n, 5n, other), aTracked('b', 2n, 6n, 5n), aTracked('c', 3n, 7n)],
    });
    await task.turn();
    bolt.emit(['both'], [bolt.at(0), bolt.at(1)]);
    bolt.emit(['one'], bolt.at(2));
    bolt.emit(['same'], [bolt.at(2), bolt.at(2)]);
    bolt.emit(['none']);
    bolt.emit(['empty'], []);
    assert.deepEqual(await sent(task), ['both<1:5,2:5,1:6> one<1:7> same<1:7> none empty']);
    task.running.stop();
  });

  it('S09: of a join belongs to those that matched: 500 tuples, 50 matches', async () => {
    const bolt = new Holder();
    const task = new TrackedTask(bolt);
    void task.start();
    await task.turn();
    for (let key = 1; key <= 500; key += 1) {
      task.feed({ tuples: [aTracked(`${key}`, BigInt(key), BigInt(key))] });
    }
    await task.turn();
    for (let match = 0; match < 50; match += 1) {
      bolt.emit([`${match}`], [bolt.at(match), bolt.at(499 - match)]);
    }
    const [set = ''] = await sent(task);
    assert.equal(set.match(/1:\d+/g)?.length, 100, 'two roots each');
    assert.match(set, /^0<1:1,1:500> 1<1:2,1:499> /);
    task.running.stop();
  });

  it('may have anchors that have been acked or failed before', async () => {
    const { bolt, task } = await holding(1n);
    bolt.ack(bolt.at(0));
    bolt.emit(['late'], bolt.at(0));
    assert.deepEqual(await sent(task), ['late<1:10>', 'ack 1:10=1']);
    assert.deepEqual(task.exceptions, []);
    task.running.stop();
  });

  it('is sent alone when its roots are too many for a set', async () => {
    const bolt = new Holder();
    const task = new TrackedTask(bolt);
    void task.start();
    await task.turn();
    const keys = Array.from({ length: 5_000 }, (_, index) => BigInt(index + 1));
    for (let at = 0; at < keys.length; at += 500) {
      task.feed({ tuples: [aTracked('a', 1n, ...keys.slice(at, at + 500))] });
    }
    await task.turn();
    bolt.emit(['all'], bolt.received);
    const [set = ''] = await sent(task);
    assert.equal(set, `all<${keys.map((key) => `1:${key}`).join(',')}>`);
    task.running.stop();
  });
});

describe('a bolt whose connection with the stream manager was lost', () => {
  it('R14: drops what it has not sent, and answers with a marker', async () => {
    const { bolt, task } = await holding(1n, 2n);
    task.reconnect();
    bolt.emit(['a'], bolt.at(0));
    bolt.ack(bolt.at(0));
    task.ports.dataIn.hasNext();
    await task.turn();
    // The ack may have left before the marker was met; then it is ahead of it.
    const frames = task.takeSent();
    assert.equal(frames.at(-1), 'marker 3');
    bolt.ack(bolt.at(1));
    assert.deepEqual(await sent(task), [], 'A5: of the older connection');
    task.feed({ tuples: [aTracked('c', 3n, 30n)] });
    await task.turn();
    bolt.ack(bolt.at(2));
    assert.deepEqual(await sent(task), ['ack 1:30=3']);
    task.running.stop();
  });

  it('A5: fails nothing of the older one either, and counts', async () => {
    const { bolt, task } = await holding(1n, 2n);
    task.reconnect();
    await task.turn();
    bolt.fail(bolt.at(0));
    bolt.ack(bolt.at(1));
    assert.deepEqual(await sent(task), ['marker 3']);
    assert.deepEqual(task.exceptions, [], 'no fault of the bolt');
    task.running.stop();
  });

  it('R14: loses the acks that were folded and not flushed', async () => {
    const bolt = new Holder();
    const task = new TrackedTask(bolt);
    bolt.executeOne = (tuple) => bolt.ack(tuple);
    void task.start();
    await task.turn();
    task.feed({ tuples: [aTracked('a', 1n, 10n)] });
    task.reconnect();
    task.feed({ tuples: [aTracked('b', 2n, 20n)] });
    assert.deepEqual(await sent(task), ['marker 3', 'ack 1:20=2']);
    task.running.stop();
  });
});

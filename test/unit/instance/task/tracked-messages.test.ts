import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settledSet, type TestAck } from '../../../support/tracked-task.ts';
import { aTrackedSpout, ofTree } from '../../../support/tracked-spout.ts';

describe('the messages of a spout', () => {
  it('are told of once, by ack or fail, whatever comes afterwards', async () => {
    const { task, spout } = aTrackedSpout(['a', 'b', 'c']);
    const [a = 0n, b = 0n, c = 0n] = await task.emitted(3);
    task.settle({ acks: [ofTree(b)], fails: [ofTree(a)] });
    await task.turn();
    assert.deepEqual(spout.takeTold(), ['ack b', 'fail a explicit']);
    task.settle({ acks: [ofTree(a), ofTree(b), ofTree(c)], fails: [ofTree(b), ofTree(c)] });
    await task.turn();
    assert.deepEqual(spout.takeTold(), ['ack c']);
    task.running.stop();
  });

  it('are told of no sooner than the spout is woken, and at once then', async () => {
    const { task, spout } = aTrackedSpout(['a']);
    const [a = 0n] = await task.emitted(1);
    for (let ms = 0; ms < 200; ms += 1) {
      task.clock.advance(1);
      await task.turn();
    }
    spout.takeTold();
    const before = task.clock.now();
    task.settle({ acks: [ofTree(a)] });
    await task.turn();
    assert.deepEqual([spout.takeTold(), task.clock.now()], [['ack a'], before]);
    task.running.stop();
  });

  it('T1: of other tasks, other processes and nobody are passed over', async () => {
    const { task, spout } = aTrackedSpout(['a']);
    const [a = 0n] = await task.emitted(1);
    task.settle({
      acks: [{ task: 2, key: a }, ofTree(a + 1n), ofTree(a ^ (1n << 40n)), ofTree(0n)],
      fails: [{ task: 2, key: a }],
    });
    await task.turn();
    assert.deepEqual(spout.takeTold(), []);
    task.settle({ acks: [ofTree(a)] });
    await task.turn();
    assert.deepEqual(spout.takeTold(), ['ack a']);
    task.running.stop();
  });

  it('S12: fail with kind, component, task and error', async () => {
    const { task, spout } = aTrackedSpout(['a', 'b', 'c', 'd', 'e', 'f']);
    const keys = await task.emitted(6);
    const kinds = [
      'time-out',
      'explicit',
      'thrown',
      'lost-instance',
      'lost-stream-manager',
      'dropped',
    ] as const;
    const fails = kinds.map((kind, index): TestAck => {
      const isThrown = kind === 'thrown';
      const where = { component: 'sink', task: 4, ...(isThrown && { message: 'no number' }) };
      return { key: keys[index] ?? 0n, reason: { kind, ...where } };
    });
    task.settle({ fails });
    await task.turn();
    assert.deepEqual(
      spout.reasons.map(({ kind }) => kind),
      kinds,
    );
    assert.deepEqual(spout.reasons[2], {
      kind: 'thrown',
      component: 'sink',
      task: 4,
      error: { message: 'no number', stack: undefined },
    });
    assert.deepEqual(spout.reasons[5], {
      kind: 'dropped',
      component: 'sink',
      task: 4,
      error: undefined,
    });
    task.running.stop();
  });

  it('N1: are told of one after the other when ack or fail return promises', async () => {
    for (const kind of ['acks', 'fails'] as const) {
      const { task, spout } = aTrackedSpout(['a', 'b']);
      const keys = await task.emitted(2);
      const gate = Promise.withResolvers<void>();
      spout.onSettled = () => gate.promise;
      task.settle({ [kind]: keys.map(ofTree) });
      await task.turn();
      assert.equal(spout.calls.filter((call) => /^(ack|fail)/.test(call)).length, 1);
      const before = spout.calls.length;
      task.clock.advance(1_000);
      await task.turn();
      assert.equal(spout.calls.length, before, 'nothing else is called meanwhile');
      gate.resolve();
      await task.turn();
      assert.equal(spout.takeTold().length, 2);
      task.running.stop();
    }
  });

  for (const callback of ['ack', 'fail'] as const) {
    for (const [how, fails] of [
      ['throws', () => assert.fail('no such id')],
      ['rejects', () => Promise.reject(new Error('no such id'))],
    ] as const) {
      it(`end the instance when ${callback} ${how}, with a message that names it`, async () => {
        const { task, spout } = aTrackedSpout(['a']);
        spout.onSettled = fails;
        const keys = await task.emitted(1);
        task.settle({ [`${callback}s`]: keys.map(ofTree) });
        await assert.rejects(task.drive(task.done), {
          code: 'COMPONENT_FAILED',
          message: `${callback} of 'source' (task 1) failed: no such id`,
        });
      });
    }
  }

  it('are told of while the topology is paused, and while the spout is held', async () => {
    const { task, spout } = aTrackedSpout(['a', 'b', 'c']);
    const [a = 0n, b = 0n, c = 0n] = await task.emitted(3);
    task.running.setActive(false);
    await task.turn();
    spout.calls.length = 0;
    task.settle({ acks: [ofTree(a)], fails: [ofTree(b)] });
    await task.turn();
    assert.deepEqual(spout.calls, ['ack a', 'fail b explicit']);
    task.setHeld(true);
    task.running.setActive(true);
    await task.turn();
    spout.calls.length = 0;
    task.settle({ acks: [ofTree(c)] });
    await task.turn();
    assert.deepEqual(spout.calls, ['ack c']);
    task.running.stop();
  });

  it('N3: are all told before nextTuple is called again, however long it takes', async () => {
    const { task, spout } = aTrackedSpout([], { 'topology.max.spout.pending': '10000' });
    let keys: bigint[] = [];
    let calls = 0;
    spout.next = () => {
      calls += 1;
      spout.calls.push('nextTuple');
      if (calls === 1) for (let id = 0; id < 5_000; id += 1) spout.emit(['a'], id);
      // The stream manager answers while the spout is being called.
      if (calls !== 2) return;
      keys = task.takeRootKeys(); // Of the sets that were full.
      task.settle({ acks: keys.map(ofTree) });
      spout.emit(['b']);
    };
    spout.onSettled = () => task.clock.advance(0.01);
    void task.start();
    for (let turns = 0; turns < 20; turns += 1) await task.turn();
    const first = spout.calls.indexOf('ack 0');
    const told = spout.calls.slice(first, first + keys.length);
    assert.ok(keys.length > 3_000 && told.every((call) => call.startsWith('ack')));
    task.running.stop();
  });

  it('come by message when a set is too large for the ring, in their turn', async () => {
    const { task, spout } = aTrackedSpout(['a', 'b']);
    const [a = 0n, b = 0n] = await task.emitted(2);
    task.gateway.dataIn.writeMarker(1);
    task.settle({ acks: [ofTree(b)] });
    await task.turn();
    assert.deepEqual(spout.takeTold(), [], 'its bytes have not come');
    task.ports.largeSets.put(settledSet({ acks: [ofTree(a)] }));
    task.ports.bell.ring();
    await task.turn();
    assert.deepEqual(spout.takeTold(), ['ack a', 'ack b']);
    task.running.stop();
  });
});

describe('a spout whose stream manager', () => {
  it('T2: R14: was lost fails what was pending, in the order of emission', async () => {
    const { task, spout } = aTrackedSpout(['a', 'b', 'c']);
    const [, b = 0n] = await task.emitted(3);
    task.settle({ acks: [ofTree(b)] });
    task.reconnect();
    await task.turn();
    assert.deepEqual(spout.takeTold(), [
      'ack b',
      'fail a lost-stream-manager',
      'fail c lost-stream-manager',
    ]);
    spout.waiting = ['d'];
    spout.context?.wake();
    await task.turn();
    const [d = 0n] = task.takeRootKeys();
    task.settle({ acks: [ofTree(d)] });
    await task.turn();
    assert.deepEqual(spout.takeTold(), ['ack d'], 'the new one is not affected');
    assert.deepEqual(task.takeSent(), [], 'a spout has no marker to answer with');
    task.running.stop();
  });

  it('T2: R14: was lost twice fails each once', async () => {
    const { task, spout } = aTrackedSpout(['a']);
    await task.emitted(1);
    task.reconnect();
    task.reconnect();
    await task.turn();
    assert.deepEqual(spout.takeTold(), ['fail a lost-stream-manager']);
    task.running.stop();
  });

  it('T2: R14: was lost does not fail what it emits when it is told so', async () => {
    const { task, spout } = aTrackedSpout(['a']);
    await task.emitted(1);
    let more = 3;
    spout.onSettled = () => {
      more -= 1;
      if (more > 0) spout.emit(['again'], 'again');
    };
    task.reconnect();
    await task.turn();
    assert.deepEqual(spout.takeTold(), ['fail a lost-stream-manager']);
    task.running.stop();
  });

  it('T2: R14: was lost fails each once, also where it is emitted anew at once', async () => {
    const { task, spout } = aTrackedSpout(['a', 'b']);
    spout.replays = true;
    await task.emitted(2);
    task.reconnect();
    await task.turn();
    assert.equal(task.takeRootKeys().length, 2, 'what is emitted anew is not failed again');
    assert.equal(spout.takeTold().length, 2);
    task.running.stop();
  });

  it('T3: S01: forgets what times out: the task fails it, between T and a tenth more', async () => {
    const { task, spout } = aTrackedSpout(['a'], { 'topology.message.timeout.secs': '10' });
    task.gateway.status.setForgetsTimeOuts(true);
    const [a = 0n] = await task.emitted(1);
    task.clock.advance(9_999);
    await task.turn();
    assert.deepEqual(spout.takeTold(), []);
    task.clock.advance(1_001);
    await task.turn();
    assert.deepEqual(spout.takeTold(), ['fail a time-out']);
    task.settle({ acks: [ofTree(a)] });
    await task.turn();
    assert.deepEqual(spout.takeTold(), [], 'a late ack is passed over');
    task.running.stop();
  });

  it('T3: tells of time-outs itself: the task fails nothing', async () => {
    const { task, spout } = aTrackedSpout(['a'], { 'topology.message.timeout.secs': '10' });
    await task.emitted(1);
    task.clock.advance(100_000);
    await task.turn();
    assert.deepEqual(spout.takeTold(), []);
    task.running.stop();
  });
});

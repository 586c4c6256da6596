import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSpout } from '../../../../src/api/component-runtime.ts';
import { createWorkload } from '../../../../src/simulation/workload/workload.ts';
import type { SpoutDescription } from '../../../../src/simulation/workload/workload-description.ts';
import { settled } from '../../../support/settled.ts';
import { RunningComponent } from './running-component.ts';
import { aSpoutPlan, aWorkloadPlan } from './small-workloads.ts';

function aSpout(change: Partial<SpoutDescription>) {
  const workload = createWorkload(aWorkloadPlan({ spouts: [aSpoutPlan(change)] }));
  const start = () => {
    const running = new RunningComponent(workload, 'source');
    const { component } = running;
    assert.ok(isSpout(component));
    return { running, spout: component, emitted: () => running.emitted.length };
  };
  return { workload, start };
}

test('a flood emits so many in each call, to its streams in turn, then ends', async () => {
  const streams = ['default', 'b'].map((name) => ({ name, payloadBytes: [3], keys: 2 }));
  const { start, workload } = aSpout({ tuples: 5, pace: { kind: 'flood', perCall: 3 }, streams });
  const { spout, running } = start();
  await spout.open(running.context);
  spout.nextTuple();
  assert.deepEqual(running.emitted, [0, 1, 2]);
  spout.nextTuple();
  assert.deepEqual(running.emitted, [0, 1, 2, 3, 4]);
  assert.deepEqual(
    running.collector.emitted.map(({ streamIndex }) => streamIndex),
    [1, 0, 1, 0, 1],
  );
  assert.equal(running.collector.ends, 0);
  spout.nextTuple();
  assert.equal(running.collector.ends, 1);
  assert.equal(running.life.endedAtMs, 0);
  assert.equal(workload.ledger.emitCount, 5);
});

test('message ids are those of the tuples, where they are wanted', async () => {
  for (const withMessageIds of [true, false]) {
    const { spout, running } = aSpout({ withMessageIds, tuples: 1 }).start();
    await spout.open(running.context);
    spout.nextTuple();
    assert.equal(running.collector.emitted[0]?.messageId, withMessageIds ? 0 : undefined);
  }
});

test('a burst is followed by a pause', async () => {
  const { spout, running, emitted } = aSpout({
    tuples: 5,
    pace: { kind: 'burst', size: 2, pauseMs: 10 },
  }).start();
  await spout.open(running.context);
  const counts = [0, 9, 1].map((ms) => {
    running.clock.advance(ms);
    spout.nextTuple();
    return emitted();
  });
  assert.deepEqual(counts, [2, 2, 4]);
});

test('a trickle wakes the engine for each tuple', async () => {
  const { spout, running, emitted } = aSpout({ pace: { kind: 'trickle', everyMs: 5 } }).start();
  await spout.open(running.context);
  spout.nextTuple();
  spout.nextTuple();
  assert.deepEqual([emitted(), running.wakes], [1, 0]);
  running.clock.advance(5);
  assert.equal(running.wakes, 1);
  spout.nextTuple();
  assert.equal(emitted(), 2);
  await spout.close();
  assert.equal(running.clock.pendingTimers, 0);
});

test('an awaited tuple comes before its promise settles', async () => {
  const { spout, running, emitted } = aSpout({ pace: { kind: 'awaited', everyMs: 5 } }).start();
  await spout.open(running.context);
  const pending = spout.nextTuple();
  await settled();
  assert.equal(emitted(), 0);
  running.clock.advance(5);
  await pending;
  assert.equal(emitted(), 1);
});

test('a timer emits outside of calls, and rests while the topology is paused', async () => {
  const { spout, running, emitted } = aSpout({
    tuples: 3,
    pace: { kind: 'timer', everyMs: 5 },
  }).start();
  await spout.open(running.context);
  spout.nextTuple();
  running.clock.advance(11);
  assert.equal(emitted(), 2);
  await spout.deactivate();
  running.clock.advance(100);
  assert.equal(emitted(), 2);
  spout.nextTuple();
  running.clock.advance(5);
  assert.deepEqual([emitted(), running.wakes], [3, 1]);
  spout.nextTuple();
  assert.equal(running.collector.ends, 1);
});

test('a spout that is started again goes on where it was', async () => {
  const { start } = aSpout({ tuples: 4, pace: { kind: 'flood', perCall: 3 } });
  const first = start();
  await first.spout.open(first.running.context);
  first.spout.nextTuple();
  const second = start();
  await second.spout.open(second.running.context);
  second.spout.nextTuple();
  assert.deepEqual(second.running.emitted, [3]);
});

test('a planned throw happens once, and is in the ledger', async () => {
  const faults = [{ kind: 'throw', taskIndex: 0, atCall: 3 }] as const;
  const { start } = aSpout({ tuples: 5, faults, pace: { kind: 'flood', perCall: 5 } });
  const first = start();
  await first.spout.open(first.running.context);
  assert.throws(() => first.spout.nextTuple(), /call 3 of task/);
  assert.equal(first.running.life.threwAtMs, 0);
  const second = start();
  await second.spout.open(second.running.context);
  second.spout.nextTuple();
  assert.deepEqual([...first.running.emitted, ...second.running.emitted], [0, 1, 2, 3, 4]);
});

test('a throw at the start happens in the first life only', async () => {
  const { start } = aSpout({ faults: [{ kind: 'throw-at-start', taskIndex: 0 }] });
  const first = start();
  assert.throws(() => first.spout.open(first.running.context), /throw-at-start/);
  const second = start();
  await second.spout.open(second.running.context);
});

test('an emit that is refused leaves no tuple', async () => {
  const { start, workload } = aSpout({});
  const { spout, running } = start();
  await spout.open(running.context);
  running.collector.emit = () => {
    throw new Error('refused');
  };
  assert.throws(() => spout.nextTuple(), /refused/);
  assert.equal(workload.ledger.emitted(0), undefined);
});

/** A spout that has been opened, of a workload that runs at least once. */
async function aReplayingSpout(change: Partial<SpoutDescription>, pendingMax = 100) {
  const config = {
    'topology.reliability.mode': 'ATLEAST_ONCE',
    'topology.max.spout.pending': String(pendingMax),
  };
  const plan = aSpoutPlan({
    withMessageIds: true,
    tuples: 2,
    replay: { afterMs: 0, endsEarly: false },
    ...change,
  });
  const workload = createWorkload(aWorkloadPlan({ config, spouts: [plan] }));
  const start = async () => {
    const running = new RunningComponent(workload, 'source');
    assert.ok(isSpout(running.component));
    await running.component.open(running.context);
    return { running, spout: running.component };
  };
  return { ...(await start()), start, trees: workload.ledger.trees };
}

const FAILED = {
  kind: 'explicit',
  component: undefined,
  task: undefined,
  error: undefined,
} as const;

test('what failed is emitted again, and the end waits until all is settled', async () => {
  const { spout, running, trees } = await aReplayingSpout({});
  spout.nextTuple();
  assert.deepEqual(running.emitted, [0, 1]);
  await spout.fail(0, FAILED);
  await spout.ack(1);
  spout.nextTuple();
  spout.nextTuple();
  assert.deepEqual([running.emitted, running.collector.ends], [[0, 1, 2], 0]);
  await spout.ack(2);
  spout.nextTuple();
  assert.equal(running.collector.ends, 1);
  assert.equal(running.life.endedAtMs, 0);
  assert.deepEqual(
    trees.callbacks.map(({ tuple, reason }) => [tuple, reason?.kind]),
    [
      [0, 'explicit'],
      [1, undefined],
      [2, undefined],
    ],
  );
  assert.deepEqual(
    trees.messages.map(({ tuple }) => tuple),
    [0, 1, 2],
  );
});

test('an end that is said early is there when all is settled', async () => {
  const replay = { afterMs: 0, endsEarly: true };
  const { spout, running } = await aReplayingSpout({ replay });
  spout.nextTuple();
  spout.nextTuple();
  assert.equal(running.collector.ends, 1);
  assert.equal(running.life.endedAtMs, undefined);
  await spout.fail(1, FAILED);
  spout.nextTuple();
  assert.deepEqual(running.emitted, [0, 1, 2]);
  await spout.ack(0);
  assert.equal(running.life.endedAtMs, undefined);
  await spout.ack(2);
  assert.equal(running.life.endedAtMs, 0);
});

test('what failed can rest, and a pause of the topology ends the rest', async () => {
  const replay = { afterMs: 50, endsEarly: false };
  const { spout, running } = await aReplayingSpout({ replay });
  spout.nextTuple();
  await spout.fail(0, FAILED);
  await spout.fail(1, FAILED);
  spout.nextTuple();
  assert.equal(running.emitted.length, 2);
  running.clock.advance(50);
  assert.equal(running.wakes, 2);
  spout.nextTuple();
  assert.equal(running.emitted.length, 4);
  await spout.fail(2, FAILED);
  await spout.deactivate();
  spout.nextTuple();
  assert.equal(running.emitted.length, 5);
});

test('a new process emits again what the one before had pending', async () => {
  const { spout, start } = await aReplayingSpout({ tuples: 3 });
  spout.nextTuple();
  await spout.ack(1);
  const second = await start();
  second.spout.nextTuple();
  assert.deepEqual(second.running.emitted, [3, 4]);
});

test('a call beside too many pending messages is in the ledger', async () => {
  const { spout, trees } = await aReplayingSpout({ tuples: 9 }, 4);
  spout.nextTuple();
  spout.nextTuple();
  assert.deepEqual(trees.excesses, []);
  spout.nextTuple();
  assert.match(trees.excesses[0] ?? '', /called with 6 messages pending/);
});

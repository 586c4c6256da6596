import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBolt, isSpout, kindOf } from '../../../../src/api/component-runtime.ts';
import { Tuple } from '../../../../src/api/tuple.ts';
import { taskId } from '../../../../src/base/ids.ts';
import { createWorkload } from '../../../../src/simulation/workload/workload.ts';
import type { BoltDescription } from '../../../../src/simulation/workload/workload-description.ts';
import { settled } from '../../../support/settled.ts';
import { RunningComponent } from './running-component.ts';
import { aBoltPlan, aWorkloadPlan, DEFAULT_ONLY } from './small-workloads.ts';

/** A bolt that has been prepared, and a spout that has emitted three tuples for it. */
async function aBolt(change: Partial<BoltDescription> = {}) {
  const plan = aWorkloadPlan({ bolts: [aBoltPlan({ streams: DEFAULT_ONLY, ...change })] });
  const workload = createWorkload(plan);
  const source = new RunningComponent(workload, 'source');
  const running = new RunningComponent(workload, 'sink');
  assert.ok(isSpout(source.component) && isBolt(running.component));
  await source.component.open(source.context);
  source.component.nextTuple();
  const bolt = running.component;
  await bolt.prepare(running.context);
  return { workload, source, running, bolt, tuple: (at: number) => running.tupleFrom(source, at) };
}

test('an executed tuple is in the ledger, and what descends from it is emitted', async () => {
  const { workload, running, bolt, tuple } = await aBolt({ fanOut: 2 });
  assert.equal(bolt.execute(tuple(1)), undefined);
  assert.deepEqual(workload.ledger.executed(0), { tuple: 1, life: 1, atMs: 0 });
  assert.deepEqual(running.emitted, [3, 4]);
  assert.deepEqual(workload.ledger.misreadings, []);
});

test('a plain bolt anchors and acks', async () => {
  const { running, bolt, tuple } = await aBolt({ base: 'plain' });
  assert.equal(kindOf(bolt), 'bolt');
  const received = tuple(0);
  assert.equal(bolt.execute(received), undefined);
  assert.deepEqual(running.collector.emitted[0]?.anchors, [received]);
  assert.deepEqual(running.collector.acked, [received]);
});

test('an async bolt emits, and a plain one acks, before its promise settles', async () => {
  for (const afterMs of [0, 5]) {
    const { running, bolt, tuple } = await aBolt({
      base: 'plain',
      style: { kind: 'async', afterMs },
    });
    const pending = bolt.execute(tuple(0));
    assert.deepEqual(running.emitted, []);
    await settled();
    assert.equal(running.emitted.length, afterMs === 0 ? 1 : 0);
    running.clock.advance(afterMs);
    await pending;
    assert.equal(running.emitted.length, 1);
    assert.equal(running.collector.acked.length, 1);
  }
});

test('a detached bolt emits from a timer, for which finish waits', async () => {
  const { running, bolt, tuple } = await aBolt({
    style: { kind: 'detached', afterMs: 5 },
    emitsInFinish: 1,
  });
  void bolt.execute(tuple(0));
  void bolt.execute(tuple(1));
  const finishing = bolt.finish();
  await settled();
  assert.equal(running.life.endedAtMs, undefined);
  running.clock.advance(5);
  await finishing;
  assert.equal(running.emitted.length, 3);
  assert.equal(running.life.endedAtMs, 5);
  assert.equal(running.life.finishCalls, 1);
});

test('cleanup cancels what is still to come', async () => {
  const { running, bolt, tuple } = await aBolt({ style: { kind: 'detached', afterMs: 5 } });
  void bolt.execute(tuple(0));
  await bolt.cleanup();
  assert.equal(running.clock.pendingTimers, 0);
});

test('what a bolt throws on purpose ends a plain one only', async () => {
  const faults = [{ kind: 'throw', taskIndex: 0, atCall: 2 }] as const;
  for (const base of ['basic', 'plain'] as const) {
    const { workload, running, bolt, tuple } = await aBolt({ base, faults });
    void bolt.execute(tuple(0));
    assert.throws(() => bolt.execute(tuple(1)), /call 2 of task/);
    assert.equal(running.life.threwAtMs, base === 'plain' ? 0 : undefined);
    void bolt.execute(tuple(2));
    assert.equal(workload.ledger.executeCount, 3);
    assert.equal(running.emitted.length, 2);
  }
});

test('a throw in finish comes once', async () => {
  const { running, bolt } = await aBolt({ faults: [{ kind: 'throw-in-finish', taskIndex: 0 }] });
  await assert.rejects(async () => bolt.finish(), /throw-in-finish/);
  assert.equal(running.life.endedAtMs, undefined);
  await bolt.finish();
});

test('work and hangs take time of the thread', async () => {
  const faults = [{ kind: 'hang', taskIndex: 0, atCall: 2, forMs: 900 }] as const;
  const { workload, running, bolt, tuple } = await aBolt({ faults, workMs: 3 });
  const spent: number[] = [];
  workload.threads.connect((task) => {
    assert.equal(task, running.task);
    return { spend: (ms) => void spent.push(ms) };
  });
  void bolt.execute(tuple(0));
  void bolt.execute(tuple(1));
  assert.deepEqual(spent, [3, 3, 900]);
  const { hangs } = workload.ledger;
  assert.deepEqual(hangs, [{ task: running.task, fromMs: 0, untilMs: 900 }]);
});

test('a tuple that arrives changed in any part is noticed', async () => {
  const { workload, bolt, tuple } = await aBolt();
  const { origin, sourceTask, values } = tuple(0);
  const [id, first, second, payload] = values;
  assert.ok(payload instanceof Uint8Array);
  const changed = [
    new Tuple(origin, taskId(99), values),
    new Tuple(origin, sourceTask, [id, 'other', second, payload]),
    new Tuple(origin, sourceTask, [id, first, 'other', payload]),
    new Tuple(origin, sourceTask, [id, first, second, payload.subarray(1)]),
    new Tuple(origin, sourceTask, [id, first, second, Uint8Array.of(1, 2, 3, 4)]),
  ];
  for (const [index, received] of changed.entries()) {
    void bolt.execute(received);
    assert.equal(workload.ledger.misreadings.length, index + 1);
  }
  void bolt.execute(new Tuple(origin, sourceTask, ['x', first, second, payload]));
  assert.equal(workload.ledger.executeCount, changed.length, 'it has no number to be known by');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBolt, isSpout } from '../../../../src/api/component-runtime.ts';
import { createWorkload } from '../../../../src/simulation/workload/workload.ts';
import type {
  AckingDescription,
  BoltDescription,
} from '../../../../src/simulation/workload/workload-description.ts';
import { settled } from '../../../support/settled.ts';
import { RunningComponent } from './running-component.ts';
import { aBoltPlan, aWorkloadPlan, DEFAULT_ONLY } from './small-workloads.ts';

const CAREFUL: AckingDescription = { isAnchored: true, acksTwice: false, mishaps: [] };

/** A plain bolt unless told otherwise, and a spout that has emitted three tuples for it. */
async function aBolt(acking: Partial<AckingDescription>, change: Partial<BoltDescription> = {}) {
  const bolt = aBoltPlan({
    base: 'plain',
    streams: DEFAULT_ONLY,
    acking: { ...CAREFUL, ...acking },
    ...change,
  });
  const workload = createWorkload(
    aWorkloadPlan({ bolts: [bolt], config: { 'topology.reliability.mode': 'ATLEAST_ONCE' } }),
  );
  const source = new RunningComponent(workload, 'source');
  const running = new RunningComponent(workload, 'sink');
  assert.ok(isSpout(source.component) && isBolt(running.component));
  await source.component.open(source.context);
  source.component.nextTuple();
  await running.component.prepare(running.context);
  const { trees } = workload.ledger;
  return {
    running,
    trees,
    bolt: running.component,
    tuples: [0, 1, 2].map((at) => running.tupleFrom(source, at)),
    settlements: () => trees.settlements.map(({ tuple, how }) => [tuple, how]),
    anchors: () => running.collector.emitted.map(({ anchors }) => anchors?.map((a) => a.values[0])),
  };
}

test('a tuple is emitted for, anchored, acked, and in the ledger', async () => {
  const { bolt, tuples, running, settlements, anchors, trees } = await aBolt({});
  void bolt.execute(tuples[1] as (typeof tuples)[0]);
  assert.deepEqual(anchors(), [[1]]);
  assert.deepEqual(running.collector.acked, [tuples[1]]);
  assert.deepEqual(settlements(), [[1, 'acked']]);
  assert.deepEqual(trees.parentsOf(3), [1]);
});

test('without anchors nothing descends from a tuple', async () => {
  const { bolt, tuples, anchors, trees } = await aBolt({ isAnchored: false });
  for (const tuple of tuples) void bolt.execute(tuple);
  assert.deepEqual(anchors(), [[], [], []]);
  assert.equal(trees.anchors.size, 0);
});

test('a batch is emitted for when it is full, when its time is over, and at the end', async () => {
  const { bolt, tuples, running, anchors, settlements } = await aBolt({
    batch: { size: 2, forMs: 10 },
  });
  const [first, second, third] = tuples;
  assert.ok(first && second && third);
  void bolt.execute(first);
  assert.deepEqual(anchors(), []);
  void bolt.execute(second);
  assert.deepEqual(anchors(), [[0, 1]]);
  assert.equal(running.collector.acked.length, 2);
  void bolt.execute(third);
  running.clock.advance(10);
  assert.deepEqual(anchors(), [[0, 1], [2]]);
  void bolt.execute(first);
  void bolt.finish();
  assert.deepEqual(anchors(), [[0, 1], [2], [0]]);
  assert.equal(settlements().length, 4);
});

test('a batch can be acked after its emits, and finish waits for that', async () => {
  const { bolt, tuples, running, anchors } = await aBolt({
    batch: { size: 3, forMs: 10, isAckedLater: true },
  });
  for (const tuple of tuples) void bolt.execute(tuple);
  assert.deepEqual([anchors().length, running.collector.acked.length], [1, 0]);
  const finishing = bolt.finish();
  running.clock.advance(10);
  await finishing;
  assert.equal(running.collector.acked.length, 3);
});

test('mishaps come so often, so many times, and take the place of the work', async () => {
  const { bolt, tuples, running, settlements } = await aBolt({
    mishaps: [{ kind: 'fail', every: 2, times: 1 }],
  });
  const [tuple] = tuples;
  assert.ok(tuple);
  for (let call = 0; call < 6; call += 1) void bolt.execute(tuple);
  assert.deepEqual(
    settlements().map(([, how]) => how),
    ['acked', 'failed', 'acked', 'acked', 'acked', 'acked'],
  );
  assert.equal(running.collector.failed.length, 1);
  assert.equal(running.emitted.length, 5);
});

test('a forgotten tuple is worked on and not acked', async () => {
  const { bolt, tuples, running, settlements } = await aBolt({
    mishaps: [{ kind: 'forget', every: 1, times: 2 }],
  });
  for (const tuple of tuples) void bolt.execute(tuple);
  assert.equal(running.emitted.length, 3);
  assert.deepEqual(running.collector.acked, [tuples[2]]);
  assert.deepEqual(settlements(), [[2, 'acked']]);
});

test('poison is thrown at, which ends the instance of a plain bolt', async () => {
  for (const base of ['plain', 'basic'] as const) {
    const { bolt, tuples, running, settlements } = await aBolt(
      { mishaps: [{ kind: 'throw', every: 1, times: 1 }] },
      { base },
    );
    const [tuple] = tuples;
    assert.ok(tuple);
    assert.throws(() => void bolt.execute(tuple), /poison/);
    assert.equal(running.life.threwAtMs, base === 'plain' ? 0 : undefined);
    assert.deepEqual(settlements(), [[0, 'thrown']]);
  }
});

test('a tuple can be acked twice, and is once in the ledger', async () => {
  const { bolt, tuples, running, settlements } = await aBolt({ acksTwice: true });
  const [tuple] = tuples;
  assert.ok(tuple);
  void bolt.execute(tuple);
  assert.deepEqual(running.collector.acked, [tuple, tuple]);
  assert.equal(settlements().length, 1);
});

test('an async tuple is done when its promise settles', async () => {
  for (const base of ['plain', 'basic'] as const) {
    const { bolt, tuples, running, settlements } = await aBolt(
      {},
      { base, style: { kind: 'async', afterMs: 5 } },
    );
    const [tuple] = tuples;
    assert.ok(tuple);
    const pending = bolt.execute(tuple);
    await settled();
    assert.deepEqual(settlements(), []);
    running.clock.advance(5);
    await pending;
    assert.deepEqual(settlements(), [[0, 'acked']]);
  }
});

test('a detached plain bolt acks when it has emitted, a basic one is done before', async () => {
  for (const base of ['plain', 'basic'] as const) {
    const { bolt, tuples, running, settlements, trees } = await aBolt(
      {},
      { base, style: { kind: 'detached', afterMs: 5 } },
    );
    const [tuple] = tuples;
    assert.ok(tuple);
    void bolt.execute(tuple);
    assert.equal(settlements().length, base === 'plain' ? 0 : 1);
    running.clock.advance(5);
    assert.deepEqual(settlements(), [[0, 'acked']]);
    assert.deepEqual(trees.parentsOf(3), base === 'plain' ? [0] : []);
  }
});

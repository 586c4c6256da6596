import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../../../src/base/errors.ts';
import { FailKind } from '../../../src/wire/generated/tuple_pb.js';
import { AckedDataPaths } from '../../support/acked-data-paths.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aBolt, anInput, anOutput, aSpout, aTopology } from '../../support/topologies.ts';
import { aChain, aPair, FIRST, SECOND, the } from '../../support/tree-plans.ts';
import { updated } from '../../support/updated-plans.ts';

const ODD_KEYS = [1n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), (5n << 32n) | 5n];

for (const [where, container] of [
  ['here', 1],
  ['elsewhere', 2],
] as const) {
  describe(`a tree whose bolt is ${where}`, () => {
    it('is acked once when its tuple is', () => {
      const paths = new AckedDataPaths(aPair(container));
      const [spout, bolt] = [paths.instance(1), paths.instance(2)];
      for (const key of ODD_KEYS) spout.emitRoot(key);
      paths.settle();
      assert.deepEqual(
        bolt.tuples.map(({ roots }) => roots[0]?.key),
        ODD_KEYS,
      );
      assert.ok(bolt.tuples.every(({ key }) => key !== 0n));
      assert.equal(new Set(bolt.tuples.map(({ key }) => key)).size, ODD_KEYS.length);
      assert.deepEqual(spout.settledKeys, []);
      assert.equal(paths.liveTrees(), ODD_KEYS.length);
      for (const tuple of bolt.tuples.toReversed()) bolt.ack(tuple);
      paths.settle();
      assert.deepEqual(new Set(spout.acked), new Set(ODD_KEYS));
      assert.equal(spout.acked.length, ODD_KEYS.length);
      assert.equal(spout.failed.length, 0);
      assert.equal(paths.liveTrees(), 0);
      assert.equal(paths.count(container, '__server/__ack_tuples_from_workers'), ODD_KEYS.length);
      assert.equal(paths.count(1, '__server/__ack_tuples_to_workers'), ODD_KEYS.length);
    });

    it('is failed with the reason that the bolt gave', () => {
      const paths = new AckedDataPaths(aPair(container));
      const [spout, bolt] = [paths.instance(1), paths.instance(2)];
      spout.emitRoot(7n);
      paths.settle();
      bolt.fail(the(bolt.tuples), { kind: FailKind.FAIL_THROWN, message: 'no number' });
      paths.settle();
      assert.equal(spout.failed.length, 1);
      assert.deepEqual(spout.failed[0]?.reason, {
        kind: 'thrown',
        component: undefined,
        task: undefined,
        error: { message: 'no number', stack: undefined },
      });
      assert.equal(paths.liveTrees(), 0);
      assert.equal(paths.count(1, '__server/__fail_reason/thrown'), 1);
      bolt.ack(the(bolt.tuples)); // Too late.
      paths.settle();
      assert.deepEqual(spout.settledKeys, [7n]);
      assert.equal(paths.count(1, '__server/__acks_without_tree'), 1);
    });

    it('is failed by a bolt that gives no reason, with the place of the bolt', () => {
      const paths = new AckedDataPaths(aPair(container));
      const [spout, bolt] = [paths.instance(1), paths.instance(2)];
      spout.emitRoot(7n);
      paths.settle();
      bolt.fail(the(bolt.tuples));
      bolt.fail(the(bolt.tuples));
      paths.settle();
      assert.equal(spout.failed.length, 1);
      const place = { component: 'count', task: 2, error: undefined };
      assert.deepEqual(spout.failed[0]?.reason, { kind: 'explicit', ...place });
      assert.equal(paths.count(1, '__server/__fails_without_tree'), 1);
    });

    it('fails by time-out, and acks that come later mean nothing', () => {
      const paths = new AckedDataPaths(aPair(container), { timeoutMs: 10_000 });
      const [spout, bolt] = [paths.instance(1), paths.instance(2)];
      spout.emitRoot(7n);
      paths.settle();
      paths.clock.advance(9_999);
      assert.equal(spout.failed.length, 0);
      paths.clock.advance(2_001);
      assert.deepEqual(
        spout.failed.map(({ key, reason }) => [key, reason.kind]),
        [[7n, 'time-out']],
      );
      bolt.ack(the(bolt.tuples));
      paths.settle();
      assert.deepEqual(spout.settledKeys, [7n]);
      assert.equal(paths.count(1, '__server/__acks_without_tree'), 1);
      assert.equal(paths.count(1, '__server/__trees_expired'), 1);
      paths.clock.advance(1_001);
      assert.equal(paths.clock.pendingTimers, 0);
    });

    it('of an earlier process of its spout is nobody’s', () => {
      const paths = new AckedDataPaths(aPair(container));
      const bolt = paths.instance(2);
      paths.instance(1).emitRoot(7n);
      paths.instance(1).emitRoot(8n);
      paths.settle();
      paths.kill(1);
      assert.equal(paths.liveTrees(), 0);
      bolt.ack(the(bolt.tuples, 0));
      paths.settle();
      const spout = paths.connect(paths.instance(1).task);
      bolt.ack(the(bolt.tuples, 1));
      paths.settle();
      assert.deepEqual(spout.settledKeys, []);
      assert.equal(paths.count(1, '__server/__acks_without_tree'), 2);
    });

    it('may be acked twice', () => {
      const paths = new AckedDataPaths(aPair(container), { timeoutMs: 10_000 });
      const [spout, bolt] = [paths.instance(1), paths.instance(2)];
      spout.emitRoot(7n);
      paths.settle();
      bolt.ack(the(bolt.tuples));
      paths.settle();
      bolt.ack(the(bolt.tuples));
      paths.settle();
      assert.deepEqual(spout.settledKeys, [7n]);
      assert.equal(paths.count(1, '__server/__acks_without_tree'), 1);
    });

    it('is kept until it is settled when time-outs are off (S04)', () => {
      const paths = new AckedDataPaths(aPair(container), { timeoutMs: undefined });
      const [spout, bolt] = [paths.instance(1), paths.instance(2)];
      for (let key = 0n; key < 10n; key += 1n) spout.emitRoot(key);
      paths.settle();
      paths.clock.advance(90_000);
      bolt.ack(...bolt.tuples);
      paths.settle();
      assert.equal(spout.acked.length, 10);
    });
  });
}

describe('what is no usual tree', () => {
  it('one that nobody reads is complete at once', () => {
    const topology = aTopology([
      aSpout('word', { outputs: [anOutput(['word']), anOutput(['word'], 'other')] }),
      aBolt('count', ['word']),
    ]);
    const paths = new AckedDataPaths(aPlanOf(topology, ['word', 1], ['count', 1]));
    const spout = paths.instance(1);
    spout.emitRoot(7n, { stream: 'other' });
    paths.settle();
    assert.deepEqual(spout.acked, [7n]);
    assert.equal(paths.liveTrees(), 0);
  });

  it('one that chose no destination is complete at once', () => {
    const topology = aTopology([
      aSpout('word'),
      aBolt('count', [anInput('word', { kind: 'direct' })]),
    ]);
    const paths = new AckedDataPaths(aPlanOf(topology, ['word', 1], ['count', 1]));
    const spout = paths.instance(1);
    spout.emitRoot(7n);
    spout.emit([[{ taskid: 1, key: 8n }]], { destinations: [2] });
    paths.settle();
    assert.deepEqual(spout.acked, [7n]);
    assert.equal(paths.instance(2).tuples.length, 1);
  });

  it('what a bolt emits to nobody changes nothing', () => {
    const paths = new AckedDataPaths(aPair(2));
    const [spout, bolt] = [paths.instance(1), paths.instance(2)];
    spout.emitRoot(7n);
    paths.settle();
    bolt.emit([the(bolt.tuples).roots]);
    paths.settle();
    assert.deepEqual(spout.settledKeys, []);
    bolt.ack(the(bolt.tuples));
    paths.settle();
    assert.deepEqual(spout.acked, [7n]);
  });

  it('an untracked tuple has key 0, and its ack without trees is ignored', () => {
    const paths = new AckedDataPaths(aPair(2));
    const [spout, bolt] = [paths.instance(1), paths.instance(2)];
    spout.emit([[], []]);
    paths.settle();
    assert.deepEqual(bolt.tuples, [
      { key: 0n, roots: [] },
      { key: 0n, roots: [] },
    ]);
    bolt.ack(...bolt.tuples);
    bolt.fail(the(bolt.tuples));
    paths.settle();
    assert.deepEqual(spout.sets, []);
    assert.equal(paths.count(1, '__server/__acks_without_tree'), 0);
  });

  it('tracked and untracked tuples of one set keep their order', () => {
    const paths = new AckedDataPaths(aPair(2));
    const [spout, bolt] = [paths.instance(1), paths.instance(2)];
    const own = (key: bigint) => [{ taskid: 1, key }];
    spout.emit([[], own(1n), [], [], own(2n), own(3n), []]);
    paths.settle();
    assert.deepEqual(
      bolt.tuples.map(({ roots }) => roots[0]?.key),
      [undefined, 1n, undefined, undefined, 2n, 3n, undefined],
    );
    bolt.ack(...bolt.tuples);
    paths.settle();
    assert.deepEqual(spout.acked, [1n, 2n, 3n]);
  });

  it('acks of trees that never were, or of tasks that are no spouts, are counted', () => {
    const paths = new AckedDataPaths(aPair(2));
    const bolt = paths.instance(2);
    for (const taskid of [1, 2, 0]) bolt.ack({ key: 5n, roots: [{ taskid, key: 5n }] });
    bolt.fail({ key: 5n, roots: [{ taskid: 0, key: 5n }] });
    paths.settle();
    assert.equal(paths.count(1, '__server/__acks_without_tree'), 1);
    assert.equal(paths.count(2, '__server/__acks_without_tree'), 2);
    assert.equal(paths.count(2, '__server/__fails_without_tree'), 1);
    assert.deepEqual(paths.instance(1).sets, []);
  });

  it('acks of a spout that may be new are counted when a plan shows that it never was', () => {
    const plan = aPair(2);
    const paths = new AckedDataPaths(plan);
    const bolt = paths.instance(2);
    bolt.ack({ key: 5n, roots: [{ taskid: 3, key: 5n }] });
    bolt.fail({ key: 5n, roots: [{ taskid: 3, key: 5n }] });
    paths.settle();
    assert.equal(paths.count(2, '__server/__acks_without_tree'), 0);
    paths.update(updated(plan, { add: [['count', 2]] })); // Task 3 is a bolt.
    assert.equal(paths.count(2, '__server/__acks_without_tree'), 1);
    assert.equal(paths.count(2, '__server/__fails_without_tree'), 1);
  });

  it('a tree with the key of a live one takes its place, as in Heron', () => {
    const paths = new AckedDataPaths(aPair(1));
    const [spout, bolt] = [paths.instance(1), paths.instance(2)];
    spout.emitRoot(7n);
    spout.emitRoot(7n);
    paths.settle();
    assert.equal(paths.liveTrees(), 1);
    bolt.ack(the(bolt.tuples, 1));
    paths.settle();
    assert.deepEqual(spout.acked, [7n]);
    bolt.ack(the(bolt.tuples, 0));
    paths.settle();
    assert.deepEqual(spout.acked, [7n]);
  });

  it('emits are for stream managers to say', () => {
    const paths = new AckedDataPaths(aPair(1));
    const emits = [{ roots: [{ taskid: 1, key: 5n }], ackedtuple: 5n }];
    assert.throws(
      () => paths.instance(2).sendSet({ control: { emits } }),
      (error) => hasCode(error, 'UNEXPECTED_MESSAGE'),
    );
  });

  it('at most once keys are 0 and acks mean nothing, though they are counted', () => {
    const paths = new AckedDataPaths(aPair(1), { atMostOnce: true });
    const [spout, bolt] = [paths.instance(1), paths.instance(2)];
    spout.emitRoot(7n);
    paths.settle();
    assert.equal(the(bolt.tuples).key, 0n);
    bolt.ack(the(bolt.tuples));
    paths.settle();
    assert.deepEqual(spout.sets, []);
    assert.equal(paths.count(1, '__server/__ack_tuples_from_workers'), 1);
  });

  it('S01 leaves no tree: 100,000 fail, 10,000 are never heard of again', () => {
    const timeoutMs = 30_000;
    const paths = new AckedDataPaths(aPair(2), { timeoutMs, peerWindowBytes: 1 << 26 });
    const [spout, bolt] = [paths.instance(1), paths.instance(2)];
    for (let batch = 0; batch < 110; batch += 1) {
      spout.emit(
        Array.from({ length: 1_000 }, (_, index) => [
          { taskid: 1, key: BigInt(batch * 1_000 + index) },
        ]),
      );
      paths.settle();
    }
    bolt.failAll(bolt.tuples.slice(0, 100_000));
    paths.settle();
    assert.equal(paths.liveTrees(), 10_000);
    paths.clock.advance(timeoutMs * 1.1 + 1_000);
    assert.equal(paths.liveTrees(), 0);
    assert.equal(spout.failed.length, 110_000);
    assert.equal(new Set(spout.settledKeys).size, 110_000);
  });
});

describe('the order of what is heard', () => {
  it('emits are heard before acks of one set, though they stand behind them (as Heron)', () => {
    const paths = new AckedDataPaths(aPair(2));
    const [spout, bolt] = [paths.instance(1), paths.instance(2)];
    spout.emitRoot(7n);
    paths.settle();
    const { key, roots } = the(bolt.tuples);
    const [first, second] = [SECOND, FIRST];
    paths.inject(first, second, 1, {
      srcTaskId: 2,
      control: {
        acks: [{ roots: [...roots], ackedtuple: key }],
        emits: [{ roots: [...roots], ackedtuple: 99n }],
      },
    });
    paths.settle();
    assert.deepEqual(spout.settledKeys, []);
    paths.inject(first, second, 1, {
      srcTaskId: 2,
      control: {
        acks: [{ roots: [...roots], ackedtuple: 99n }],
        fails: [{ roots: [...roots], ackedtuple: 99n }],
      },
    });
    paths.settle();
    assert.deepEqual(spout.acked, [7n]); // And not failed: acks are heard before fails.
    assert.deepEqual(spout.settledKeys, [7n]);
  });

  it('is of no concern: an ack may overtake the news of its tuple', () => {
    const paths = new AckedDataPaths(aChain(1, 2, 3));
    const [spout, split, count] = [paths.instance(1), paths.instance(2), paths.instance(3)];
    spout.emitRoot(7n);
    paths.settle();
    split.emit([the(split.tuples).roots]);
    split.ack(the(split.tuples));
    paths.clock.runSoon();
    paths.deliver('stmgr-2>stmgr-3');
    paths.clock.runSoon();
    count.ack(the(count.tuples));
    paths.clock.runSoon();
    paths.deliver('stmgr-3>stmgr-1');
    paths.clock.runSoon();
    assert.equal(spout.acked.length, 0);
    paths.settle();
    assert.deepEqual(spout.acked, [7n]);
  });
});

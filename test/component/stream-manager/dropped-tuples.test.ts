import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AckedDataPaths } from '../../support/acked-data-paths.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aBolt, anInput, aSpout, aTopology } from '../../support/topologies.ts';
import { aChain, aPair, placeOf, the } from '../../support/tree-plans.ts';

/* topology.droptuples.upon.backpressure */

describe('tuples for a task that is behind are dropped', () => {
  for (const [where, container] of [
    ['here', 1],
    ['elsewhere', 2],
  ] as const) {
    it(`and counted, and their trees fail: the task is ${where}`, () => {
      const paths = new AckedDataPaths(aPair(container), { dropsWhenBehind: true });
      const [spout, bolt] = [paths.instance(1), paths.instance(2)];
      spout.emitRoot(1n);
      paths.settle();
      paths.setBehind(1, 2);
      spout.emitRoot(2n);
      spout.emit([[], []]);
      paths.settle();
      assert.equal(bolt.tuples.length, 1);
      assert.equal(paths.count(1, '__server/__tuples_dropped'), 3);
      assert.deepEqual(
        spout.failed.map(({ key, reason }) => [key, ...placeOf(reason)]),
        [[2n, 'dropped', 'count', 2]],
      );
      bolt.ack(the(bolt.tuples));
      paths.settle();
      assert.deepEqual(spout.acked, [1n]);
      assert.equal(paths.liveTrees(), 0);
    });
  }

  it('of a bolt: the trees that it anchored to fail', () => {
    const paths = new AckedDataPaths(aChain(1, 2, 3), { dropsWhenBehind: true });
    const [spout, split] = [paths.instance(1), paths.instance(2)];
    spout.emitRoot(7n);
    paths.settle();
    paths.setBehind(2, 3);
    split.emit([the(split.tuples).roots]);
    split.ack(the(split.tuples));
    paths.settle();
    assert.deepEqual(
      spout.failed.map(({ reason }) => placeOf(reason)),
      [['dropped', 'count', 3]],
    );
    assert.deepEqual(spout.acked, []);
  });

  it('for one of several destinations: the others get it, and the tree fails', () => {
    const topology = aTopology([
      aSpout('word'),
      aBolt('count', [anInput('word', { kind: 'all' })], { parallelism: 2 }),
    ]);
    const paths = new AckedDataPaths(aPlanOf(topology, ['word', 1], ['count', 1], ['count', 1]), {
      dropsWhenBehind: true,
    });
    const spout = paths.instance(1);
    paths.setBehind(1, 2);
    spout.emitRoot(7n);
    paths.settle();
    assert.deepEqual(
      [2, 3].map((task) => paths.instance(task).tuples.length),
      [0, 1],
    );
    assert.equal(paths.count(1, '__server/__tuples_dropped'), 1);
    paths.instance(3).ack(the(paths.instance(3).tuples));
    paths.settle();
    assert.deepEqual(spout.acked, []);
    assert.equal(spout.failed.length, 1);
  });

  it('without the setting nothing is', () => {
    const paths = new AckedDataPaths(aPair(1));
    paths.setBehind(1, 2);
    paths.instance(1).emitRoot(2n);
    paths.settle();
    assert.equal(paths.instance(2).tuples.length, 1);
    assert.equal(paths.count(1, '__server/__tuples_dropped'), 0);
  });

  it('at most once, too', () => {
    const paths = new AckedDataPaths(aPair(1), { atMostOnce: true, dropsWhenBehind: true });
    paths.setBehind(1, 2);
    paths.instance(1).emit([[], []]);
    paths.settle();
    assert.equal(paths.instance(2).tuples.length, 0);
    assert.equal(paths.count(1, '__server/__tuples_dropped'), 2);
  });
});

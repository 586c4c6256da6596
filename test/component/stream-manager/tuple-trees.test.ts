import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSeededRandom } from '../../../src/base/random.ts';
import { AckedDataPaths, type ArrivedTuple } from '../../support/acked-data-paths.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aBolt, anInput, aSpout, aTopology } from '../../support/topologies.ts';
import { aChain, aPair, the } from '../../support/tree-plans.ts';

describe('a tree of several tuples', () => {
  it('is acked after the last of all copies', () => {
    const topology = aTopology([
      aSpout('word'),
      aBolt('count', [anInput('word', { kind: 'all' })]),
    ]);
    const plan = aPlanOf(topology, ['word', 1], ['count', 1], ['count', 2], ['count', 2]);
    const paths = new AckedDataPaths(plan);
    const spout = paths.instance(1);
    spout.emitRoot(7n);
    paths.settle();
    const tuples = [2, 3, 4].map((task) => the(paths.instance(task).tuples));
    assert.equal(new Set(tuples.map(({ key }) => key)).size, 3, 'each copy has a key of its own');
    for (const [index, tuple] of tuples.entries()) {
      assert.equal(spout.acked.length, 0);
      paths.instance(index + 2).ack(tuple);
      paths.settle();
    }
    assert.deepEqual(spout.acked, [7n]);
  });

  it('acked twice in one place stays until it expires, and never looks complete', () => {
    const topology = aTopology([
      aSpout('word'),
      aBolt('count', [anInput('word', { kind: 'all' })]),
    ]);
    const paths = new AckedDataPaths(aPlanOf(topology, ['word', 1], ['count', 1], ['count', 2]));
    const spout = paths.instance(1);
    spout.emitRoot(7n);
    paths.settle();
    paths.instance(2).ack(the(paths.instance(2).tuples));
    paths.instance(2).ack(the(paths.instance(2).tuples));
    paths.instance(3).ack(the(paths.instance(3).tuples));
    paths.settle();
    assert.equal(spout.acked.length, 0);
    paths.clock.advance(40_000);
    assert.deepEqual(
      spout.failed.map(({ reason }) => reason.kind),
      ['time-out'],
    );
  });

  const placements: readonly (readonly [number, number, number])[] = [
    [1, 1, 1],
    [1, 2, 1],
    [1, 1, 2],
    [1, 2, 2],
    [1, 2, 3],
  ];
  for (const containers of placements) {
    it(`follows what bolts make of tuples, over containers ${containers.join(', ')}`, () => {
      const paths = new AckedDataPaths(aChain(...containers));
      const [spout, split, count] = [paths.instance(1), paths.instance(2), paths.instance(3)];
      const random = createSeededRandom(4);
      for (let key = 0n; key < 50n; key += 1n) spout.emitRoot(key);
      paths.settle();
      for (const tuple of split.tuples) {
        const words = 1 + random.below(4);
        split.emit(Array.from({ length: words }, () => tuple.roots));
        if (random.below(2) === 0) paths.settle(); // In one turn, or in two.
        split.ack(tuple);
        if (random.below(2) === 0) paths.settle();
      }
      paths.settle();
      assert.equal(spout.acked.length, 0);
      const rest = count.tuples.toSorted((a, b) => (a.key < b.key ? -1 : 1));
      while (rest.length > 0) {
        const tuple = rest.pop() as ArrivedTuple;
        count.ack(tuple);
        paths.settle();
        const [root] = tuple.roots;
        const isLast = !rest.some(({ roots }) => roots[0]?.key === root?.key);
        assert.equal(spout.acked.includes(root?.key as bigint), isLast);
      }
      assert.equal(spout.acked.length, 50);
      assert.equal(paths.liveTrees(), 0);
    });
  }

  it('of several trees is taken to the account of each', () => {
    const topology = aTopology([
      aSpout('word'),
      aSpout('name'),
      aBolt('join', ['word', 'name']),
      aBolt('count', ['join']),
    ]);
    const plan = aPlanOf(topology, ['word', 1], ['name', 2], ['join', 2], ['count', 1]);
    const paths = new AckedDataPaths(plan);
    paths.instance(1).emitRoot(7n);
    paths.instance(2).emitRoot(7n);
    paths.settle();
    const [join, count] = [paths.instance(3), paths.instance(4)];
    join.emit([join.tuples.flatMap(({ roots }) => roots)]);
    join.ack(...join.tuples);
    paths.settle();
    assert.deepEqual([...paths.instance(1).acked, ...paths.instance(2).acked], []);
    count.ack(the(count.tuples));
    paths.settle();
    assert.deepEqual(paths.instance(1).acked, [7n]);
    assert.deepEqual(paths.instance(2).acked, [7n]);
  });

  it('is told of once a turn, however many tuples took part', () => {
    const paths = new AckedDataPaths(aChain(1, 2, 2));
    const [spout, split, count] = [paths.instance(1), paths.instance(2), paths.instance(3)];
    spout.emitRoot(7n);
    spout.emitRoot(8n);
    paths.settle();
    for (const tuple of split.tuples) {
      split.emit(Array.from({ length: 100 }, () => tuple.roots));
      split.ack(tuple);
    }
    paths.settle();
    count.ack(...count.tuples);
    paths.settle();
    assert.deepEqual(spout.acked, [7n, 8n]);
    assert.equal(paths.count(2, '__client_stmgr-1/__ack_tuples_to_stmgrs'), 4);
    assert.equal(paths.count(1, '__server/__ack_tuples_from_stmgrs'), 4);
  });

  it('is as right when more trees take part in a turn than fit into one set', () => {
    const paths = new AckedDataPaths(aPair(2));
    const [spout, bolt] = [paths.instance(1), paths.instance(2)];
    for (let key = 0n; key < 5_000n; key += 1n) spout.emitRoot(key);
    paths.settle();
    bolt.ack(...bolt.tuples);
    paths.settle();
    assert.equal(spout.acked.length, 5_000);
    assert.ok(spout.sets.length >= 4, 'replies, too, are cut into sets');
  });
});

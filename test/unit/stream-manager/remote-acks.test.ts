import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PhysicalPlan } from '../../../src/model/physical-plan.ts';
import { AckedDataPaths } from '../../support/acked-data-paths.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';
import { aChain, FIRST, SECOND, the, THIRD } from '../../support/tree-plans.ts';

describe('news of an emit is lost and the ack of its tuple is not', () => {
  /** `a` makes the tree, `split` emits; each step of it before or after the link is cut. */
  function aTree() {
    const paths = new AckedDataPaths(aChain(1, 2, 3));
    const [spout, split, count] = [paths.instance(1), paths.instance(2), paths.instance(3)];
    return { paths, spout, split, count };
  }

  it('under way on a link that breaks: the tree is not complete', () => {
    const { paths, spout, split, count } = aTree();
    spout.emitRoot(7n);
    paths.settle();
    split.emit([the(split.tuples).roots]);
    paths.clock.runSoon(); // The news is under way to container 1, the tuple to 3.
    paths.deliver('stmgr-2>stmgr-3');
    paths.cut(FIRST, SECOND);
    paths.link(FIRST, SECOND);
    split.ack(the(split.tuples)); // All that the ledger has heard of is acked now,
    paths.settle();
    assert.deepEqual(spout.acked, []);
    assert.equal(count.tuples.length, 1); // and this one is not.
    assert.deepEqual(
      spout.failed.map(({ reason }) => reason.kind),
      ['lost-stream-manager'],
    );
  });

  it('while there was no link: the tree is not complete', () => {
    const paths = new AckedDataPaths(threeWays());
    const [spout, relay, split] = [paths.instance(1), paths.instance(2), paths.instance(3)];
    paths.cut(FIRST, SECOND);
    spout.emitRoot(7n);
    paths.settle();
    relay.emit([the(relay.tuples).roots]);
    relay.ack(the(relay.tuples));
    paths.settle();
    split.emit([the(split.tuples).roots]); // Nobody tells container 1.
    paths.settle();
    paths.link(FIRST, SECOND);
    split.ack(the(split.tuples));
    paths.settle();
    assert.deepEqual(spout.acked, []);
    assert.deepEqual(spout.settledKeys, [7n]);
  });

  it('while only one end knew of the new link: the tree is not complete', () => {
    const paths = new AckedDataPaths(threeWays());
    const [spout, relay, split] = [paths.instance(1), paths.instance(2), paths.instance(3)];
    paths.cut(FIRST, SECOND);
    paths.link(FIRST, SECOND, () => {
      // Container 1 has the link, and this tree is younger. Container 2 has it not yet.
      spout.emitRoot(7n);
      paths.clock.runSoon();
      paths.deliver('stmgr-1>stmgr-3');
      relay.emit([the(relay.tuples).roots]);
      relay.ack(the(relay.tuples));
      paths.clock.runSoon();
      paths.deliver('stmgr-3>stmgr-1');
      paths.deliver('stmgr-3>stmgr-2');
      split.emit([the(split.tuples).roots]);
      paths.clock.runSoon();
    });
    split.ack(the(split.tuples));
    paths.settle();
    assert.deepEqual(spout.acked, []);
    assert.deepEqual(spout.settledKeys, [7n]);
  });

  /** `word` (1, container 1) → `relay` (2, in 3) → `split` (3, in 2) → `count` (4, in 3). */
  function threeWays(): PhysicalPlan {
    const topology = aTopology([
      aSpout('word'),
      aBolt('relay', ['word']),
      aBolt('split', ['relay']),
      aBolt('count', ['split']),
    ]);
    return aPlanOf(topology, ['word', 1], ['relay', 3], ['split', 2], ['count', 3]);
  }

  it('a link that comes up again and again fails each tree once', () => {
    const { paths, spout, split } = aTree();
    for (let round = 0n; round < 5n; round += 1n) {
      spout.emitRoot(round);
      paths.settle();
      paths.cut(FIRST, SECOND);
      paths.cut(SECOND, THIRD);
      paths.link(FIRST, SECOND);
      paths.link(SECOND, THIRD);
      paths.settle();
    }
    split.ack(...split.tuples);
    paths.settle();
    assert.deepEqual(
      spout.failed.map(({ key }) => key),
      [0n, 1n, 2n, 3n, 4n],
    );
    assert.deepEqual(spout.acked, []);
  });
});

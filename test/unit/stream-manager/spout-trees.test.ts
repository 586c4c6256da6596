import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { AckedDataPaths } from '../../support/acked-data-paths.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';
import { aPair, the } from '../../support/tree-plans.ts';

describe('what else bears on trees', () => {
  it('they do not age while back pressure holds their spout', () => {
    const paths = new AckedDataPaths(aPair(2), { timeoutMs: 10_000 });
    const spout = paths.instance(1);
    spout.emitRoot(7n);
    paths.settle();
    paths.pathOf(1).setHeld(new Set([taskId(1)]));
    paths.clock.advance(100_000);
    assert.equal(spout.failed.length, 0);
    paths.pathOf(1).setHeld(new Set());
    paths.clock.advance(12_001);
    assert.deepEqual(
      spout.failed.map(({ reason }) => reason.kind),
      ['time-out'],
    );
  });

  it('those of a spout of another language expire without a word, as in Heron', () => {
    const topology = aTopology([
      aSpout('word', { language: 'python' }),
      aBolt('count', ['word'], { language: 'python' }),
    ]);
    const paths = new AckedDataPaths(aPlanOf(topology, ['word', 1], ['count', 1]), {
      timeoutMs: 10_000,
    });
    const [spout, bolt] = [paths.instance(1), paths.instance(2)];
    spout.emitRoot(7n);
    spout.emitRoot(8n);
    paths.settle();
    bolt.ack(the(bolt.tuples));
    paths.settle();
    assert.deepEqual(spout.acked, [7n]);
    paths.clock.advance(20_000);
    assert.equal(paths.liveTrees(), 0);
    assert.equal(spout.failed.length, 0);
    assert.equal(paths.count(1, '__server/__trees_expired'), 1);
  });

  it('fails wait while the socket of their spout takes none', () => {
    const paths = new AckedDataPaths(aPair(2), { timeoutMs: 10_000 });
    const spout = paths.instance(1);
    for (let key = 0n; key < 10n; key += 1n) spout.emitRoot(key);
    paths.settle();
    spout.queuedBytes = 1 << 30;
    paths.clock.advance(60_000);
    assert.equal(spout.failed.length, 0);
    spout.queuedBytes = 0;
    paths.clock.advance(10);
    assert.equal(spout.failed.length, 10);
  });
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { aCluster, PATIENTLY, UNHURRIED } from '../../support/cluster.ts';
import { countedSoFar, FREQUENT_METRICS, nextPublications } from '../../support/cluster-metrics.ts';
import { eventually } from '../../support/eventually.ts';

const JOIN = join(import.meta.dirname, 'fixtures/topologies/join.ts');
const KEYS = 500;

test('S09: a join of 500 by 500 costs acks by matches, not by matches and window', async (t) => {
  const cluster = await aCluster(t);
  await cluster.submit(JOIN, 'join', {
    args: [KEYS],
    config: {
      ...FREQUENT_METRICS,
      ...UNHURRIED,
      'topology.stmgrs': 2,
      'topology.reliability.mode': 'ATLEAST_ONCE',
      'topology.max.spout.pending': 2 * KEYS,
    },
  });
  const acked = (component: string, stream: string): number =>
    countedSoFar(cluster, component, `__ack-count/${stream}`);
  await eventually(() => {
    assert.equal(acked('left', 'default'), KEYS);
    assert.equal(acked('right', 'default'), KEYS);
  }, PATIENTLY);
  await eventually(() => {
    assert.equal(acked('join', 'left/default'), KEYS);
    assert.equal(acked('join', 'right/default'), KEYS);
    assert.equal(acked('sink', 'join/default'), KEYS);
  }, PATIENTLY);
  // All trees are settled, so that these count no more.
  await nextPublications(cluster, '__stmgr__');
  // The join acks a tuple of each side for every key, and the sink one with two roots.
  const roots = 4 * KEYS;
  const fromInstances = countedSoFar(cluster, '__stmgr__', '__server/__ack_tuples_from_workers');
  t.diagnostic(`acks of instances, folded by root: ${fromInstances}`);
  assert.ok(fromInstances >= roots / 2 && fromInstances <= roots, String(fromInstances));
  const fromPeers = countedSoFar(cluster, '__stmgr__', '__server/__ack_tuples_from_stmgrs');
  assert.ok(fromPeers <= roots, `${fromPeers} acks between stream managers`);
  await cluster.kill('join');
});

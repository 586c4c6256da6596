import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { environmentError } from '../../../../src/base/errors.ts';
import { paths } from '../../../../src/state-manager/paths.ts';
import type { AskRegistrations } from '../../../../src/tracker/state/registration-watch.ts';
import type { TopologyView } from '../../../../src/tracker/state/topology-view.ts';
import { aTracker, inMemory, writeHeronTopology } from '../../../support/tracked-trees.ts';

async function watched(t: TestContext, ask: AskRegistrations) {
  const cluster = inMemory('local');
  await writeHeronTopology(cluster.stateManager);
  const inTest = await aTracker(t, [cluster], { askRegistrations: ask });
  const view = (): TopologyView => {
    const [found] = inTest.tracker.snapshots.now().clusters[0]?.topologies ?? [];
    assert.ok(found !== undefined);
    return found;
  };
  return { ...inTest, view, store: cluster.stateManager };
}

test('a topology is degraded while its master misses a stream manager', async (t) => {
  let absent: readonly string[] = [];
  const asked: string[] = [];
  const { view, pass } = await watched(t, (master) => {
    asked.push(`${master.host}:${master.statsPort}`);
    return Promise.resolve({ absent });
  });
  await pass(2_000);
  assert.equal(view().state, 'RUNNING');
  assert.deepEqual(view().registration, { missing: [] });
  absent = ['stmgr-1'];
  await pass(2_000);
  assert.equal(view().state, 'DEGRADED');
  assert.deepEqual(view().registration, { missing: ['stmgr-1'] });
  absent = [];
  await pass(2_000);
  assert.equal(view().state, 'RUNNING');
  assert.deepEqual(new Set(asked), new Set(['127.0.0.1:21132']));
});

test('a master that does not answer, or is not there, is told as the reason', async (t) => {
  const { view, pass, store } = await watched(t, () =>
    Promise.reject(environmentError('CONNECTION_LOST', 'nobody answers')),
  );
  await pass(2_000);
  assert.equal(view().state, 'DEGRADED');
  assert.deepEqual(view().registration, { problem: 'nobody answers' });
  await store.delete(paths.topologyMaster(view().name));
  await pass(2_000);
  await pass(2_000);
  assert.deepEqual(view().registration, { problem: 'it has no topology master' });
  assert.equal(view().state, 'DEGRADED');
});

test('a master that never answers is waited for alone', async (t) => {
  const { view, pass, store } = await watched(t, () => new Promise(() => {}));
  await pass(2_000);
  await pass(2_000);
  assert.equal(view().registration, undefined);
  assert.equal(view().state, 'RUNNING');
  await store.delete(paths.metricsCache(view().name));
  await pass(2_000);
  assert.equal(view().metricsCache, undefined, 'nodes are followed all the same');
});

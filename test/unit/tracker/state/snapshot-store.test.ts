import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { environmentError } from '../../../../src/base/errors.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import {
  MemoryStateManager,
  MemoryStateTree,
} from '../../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../../src/state-manager/paths.ts';
import type { ClusterView } from '../../../../src/tracker/state/snapshot.ts';
import { SnapshotStore } from '../../../../src/tracker/state/snapshot-store.ts';
import type { TrackedCluster } from '../../../../src/tracker/state/tracked-cluster.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { packingPlanOf } from '../../../support/packing-plans.ts';
import { settled } from '../../../support/settled.ts';
import { aBolt, aSpout, aTopology } from '../../../support/topologies.ts';
import { aReport, writeReport, writeTopology } from '../../../support/tracked-trees.ts';

const TOPOLOGY = aTopology([aSpout('words'), aBolt('count', ['words'])]);
const PACKING = packingPlanOf({ 1: ['words:1'], 2: ['count:2'] });
const LONGEST_LOOK_MS = 2_000;
const STEP_MS = 500;

/** A store that is away, or that refuses single nodes, when a test says so. */
class FickleStateManager extends MemoryStateManager {
  isAway = false;
  refused: string | undefined;

  override read(path: string): Promise<Uint8Array | undefined> {
    if (this.isAway) return Promise.reject(away());
    if (path === this.refused) {
      return Promise.reject(environmentError('NOT_AUTHORIZED', `${path} is not for you`));
    }
    return super.read(path);
  }

  override list(folder: string): Promise<readonly string[]> {
    return this.isAway ? Promise.reject(away()) : super.list(folder);
  }
}

function away(): Error {
  return environmentError('STATE_UNAVAILABLE', 'no server answers', { retryable: true });
}

function follow(t: TestContext, following: TrackedCluster['following']) {
  const tree = new MemoryStateTree();
  const store = new FickleStateManager(tree);
  const other = new MemoryStateManager();
  const clock = new ManualClock();
  const clusters = [
    { name: 'here', address: 'memory:here', stateManager: store, following },
    { name: 'there', address: 'memory:there', stateManager: other, following },
    {
      name: 'wrong',
      address: '',
      stateManager: undefined,
      problem: 'no such server',
      following,
    },
  ];
  const snapshots = new SnapshotStore({ clusters, clock, logger: silentLogger });
  t.after(() => snapshots.close());
  /** In steps: reading takes no time here, and must not seem to. */
  const pass = async (): Promise<void> => {
    for (let ms = 0; ms < LONGEST_LOOK_MS; ms += STEP_MS) {
      clock.advance(STEP_MS);
      for (let round = 0; round < 4; round += 1) {
        await settled();
        clock.runSoon();
      }
    }
  };
  const view = (name = 'here'): ClusterView => {
    const found = snapshots.now().clusters.find((cluster) => cluster.name === name);
    assert.ok(found !== undefined);
    return found;
  };
  return { tree, store, other, snapshots, pass, view };
}

for (const following of ['looks', 'watches'] as const) {
  test(`by ${following}: a topology comes, changes and goes`, async (t) => {
    const { store, snapshots, pass, view } = follow(t, following);
    let changes = 0;
    snapshots.onChange(() => {
      changes += 1;
    });
    await pass();
    assert.deepEqual(view().topologies, []);
    assert.equal(view().store.at, 'reachable');
    await writeTopology(store, TOPOLOGY, PACKING);
    await pass();
    await pass();
    const [first] = view().topologies;
    assert.equal(first?.state, 'RUNNING');
    assert.equal(first.reports.length, 3);
    assert.ok(changes > 0);

    await writeReport(store, TOPOLOGY, aReport(2, ['metricsmgr-2', 'container_2_count_2']));
    await pass();
    const [second] = view().topologies;
    assert.equal(second?.state, 'DEGRADED', 'its stream manager is missing');
    assert.notEqual(second, first, 'a view never changes');
    assert.equal(first.state, 'RUNNING');

    for (const path of [paths.topology, paths.executionState, paths.packingPlan]) {
      await store.delete(path(TOPOLOGY.name));
    }
    await pass();
    assert.deepEqual(view().topologies, []);
  });

  test(`by ${following}: nothing is told while nothing changes`, async (t) => {
    const { store, snapshots, pass } = follow(t, following);
    await writeTopology(store, TOPOLOGY, PACKING);
    await pass();
    await pass();
    const before = snapshots.now();
    for (let second = 0; second < 10; second += 1) await pass();
    assert.equal(snapshots.now(), before);
  });

  test(`by ${following}: a store that is away keeps its last picture; others go on`, async (t) => {
    const { store, other, pass, view } = follow(t, following);
    await writeTopology(store, TOPOLOGY, PACKING);
    await pass();
    await pass();
    store.isAway = true;
    await writeTopology(other, TOPOLOGY, PACKING);
    await pass();
    await pass();
    const { store: state, topologies } = view();
    assert.equal(state.at, 'away');
    assert.equal(state.at === 'away' && state.reason, 'no server answers');
    assert.equal(topologies[0]?.state, 'RUNNING');
    assert.equal(view('there').topologies[0]?.state, 'RUNNING');
    store.isAway = false;
    await pass();
    assert.equal(view().store.at, 'reachable');
  });
}

test('a cluster that cannot be opened is shown with the reason', (t) => {
  const { view } = follow(t, 'looks');
  const { store, topologies } = view('wrong');
  assert.equal(store.at === 'away' && store.reason, 'no such server');
  assert.deepEqual(topologies, []);
});

test('a node that may not be read is named; a token is not missed', async (t) => {
  const { store, pass, view, snapshots } = follow(t, 'looks');
  await writeTopology(store, TOPOLOGY, PACKING);
  store.refused = paths.token(TOPOLOGY.name);
  await pass();
  const [free] = view().topologies;
  assert.ok(free !== undefined);
  assert.deepEqual(free.damage, []);
  assert.equal(snapshots.tokenOf(free), undefined);
  store.refused = paths.scheduler(TOPOLOGY.name);
  await pass();
  const [seen] = view().topologies;
  assert.ok(seen !== undefined);
  assert.deepEqual(seen.damage, [
    { node: 'schedulers/words', reason: 'schedulers/words is not for you' },
  ]);
  assert.equal(snapshots.tokenOf(seen), 'secret-of-this-topology');
});

test('after close nothing is told, and the last picture can still be asked for', async (t) => {
  const { store, snapshots, pass, view } = follow(t, 'looks');
  await writeTopology(store, TOPOLOGY, PACKING);
  await pass();
  let changes = 0;
  snapshots.onChange(() => {
    changes += 1;
  });
  snapshots.close();
  snapshots.close();
  await store.delete(paths.topology(TOPOLOGY.name));
  await pass();
  assert.equal(changes, 0);
  assert.equal(view().topologies.length, 1);
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { topologyId } from '../../../../src/base/ids.ts';
import { encodeCompletion } from '../../../../src/model/completion.ts';
import { paths } from '../../../../src/state-manager/paths.ts';
import type { StateManager } from '../../../../src/state-manager/state-manager.ts';
import type { TopologyView } from '../../../../src/tracker/state/topology-view.ts';
import { encodePhysicalPlan } from '../../../../src/wire/physical-plan.ts';
import { packingPlanOf } from '../../../support/packing-plans.ts';
import { aBolt, aPhysicalPlan, aSpout, aTopology } from '../../../support/topologies.ts';
import {
  aTracker,
  inMemory,
  writeHeronTopology,
  writeSubmitted,
  writeTopology,
} from '../../../support/tracked-trees.ts';

const TOPOLOGY = aTopology([aSpout('words'), aBolt('count', ['words'])]);
const PACKING = packingPlanOf({ 1: ['words:1'], 2: ['count:2'] });
const { name } = TOPOLOGY;

/** How a Tracker shows the one topology of a tree. */
async function shown(
  t: TestContext,
  write: (store: StateManager) => Promise<void>,
): Promise<TopologyView> {
  const cluster = inMemory('local');
  await write(cluster.stateManager);
  const { tracker } = await aTracker(t, [cluster]);
  const [view] = tracker.snapshots.now().clusters[0]?.topologies ?? [];
  assert.ok(view !== undefined);
  return view;
}

test("Heron's topology is as its plan says, though nobody reports of its processes", async (t) => {
  const view = await shown(t, writeHeronTopology);
  assert.equal(view.state, 'RUNNING');
  assert.deepEqual([view.cluster, view.role, view.environ], ['local', 'tester', 'default']);
  assert.deepEqual(view.damage, []);
  assert.deepEqual(view.reports, []);
  assert.equal(view.master?.host, '127.0.0.1');
  assert.equal(view.planIndex?.plan.instances.length, 5);
});

test('topologies that Heron submitted start until there is a plan', async (t) => {
  for (const submitted of ['g-jsubmit', 'g-pysubmit']) {
    const view = await shown(t, (store) => writeSubmitted(store, submitted));
    assert.equal(view.state, 'STARTING', submitted);
    assert.deepEqual(view.damage, [], submitted);
  }
});

test('each node that is damaged is named, and the rest is shown', async (t) => {
  for (const [path, state] of [
    [paths.packingPlan(name), 'DAMAGED'],
    [paths.topology(name), 'DAMAGED'],
    [paths.physicalPlan(name), 'DAMAGED'],
    [paths.topologyMaster(name), 'DEGRADED'],
    [paths.scheduler(name), 'RUNNING'],
  ] as const) {
    const view = await shown(t, async (store) => {
      await writeTopology(store, TOPOLOGY, PACKING);
      await store.write(path, Buffer.from('no protobuf at all'));
    });
    assert.equal(view.state, state, path);
    assert.deepEqual(
      view.damage.map(({ node }) => node),
      [path],
    );
    assert.ok(view.topology !== undefined, 'the stored one or that of the plan');
  }
});

test('what a submit that died has left is half dead', async (t) => {
  const view = await shown(t, async (store) => {
    await writeTopology(store, TOPOLOGY, PACKING);
    await store.delete(paths.topology(name));
  });
  assert.equal(view.state, 'HALF_DEAD');
  assert.equal(view.role, 'ada');
});

test('a completed topology is remembered, and is no topology of the tree', async (t) => {
  const completion = {
    topologyId: TOPOLOGY.id,
    completedAtMs: 5,
    result: 'completed',
    incidents: [],
    recovered: [],
  } as const;
  const view = await shown(t, (store) =>
    store.write(paths.completed(name), encodeCompletion(completion)),
  );
  assert.equal(view.state, 'COMPLETED');
  assert.equal(view.hasNodes, false);
  assert.equal(view.sinceMs, 5);
});

test("another submit's plan and its end are passed over", async (t) => {
  const view = await shown(t, async (store) => {
    await writeTopology(store, TOPOLOGY, PACKING);
    const other = { ...TOPOLOGY, id: topologyId('words-of-yesterday') };
    const plan = encodePhysicalPlan(aPhysicalPlan(other, PACKING));
    await store.write(paths.physicalPlan(name), plan);
  });
  assert.equal(view.physicalPlan, undefined);
  assert.equal(view.state, 'STARTING');
});

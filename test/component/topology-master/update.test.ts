/*
  A real master through updates, on loopback, with stream managers that say what the test tells them
  to. What each phase decides is in test/unit/topology-master.
*/
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { parseCompletion } from '../../../src/model/completion.ts';
import type { PackingPlan } from '../../../src/model/packing-plan.ts';
import {
  MemoryStateManager,
  MemoryStateTree,
} from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { expectedInstances } from '../../../src/topology-master/placement.ts';
import { StatusCode } from '../../../src/wire/messages.ts';
import { decodePackingPlan, encodePackingPlan } from '../../../src/wire/packing-plan.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { anAddress, aPlacement } from '../../support/placements.ts';
import type { ScriptedStreamManager } from '../../support/scripted-stream-manager.ts';
import { RunningMaster, TOKEN, TOPOLOGY } from './running-master.ts';

const BASE = aPlacement({ 1: ['1', '2'], 2: ['3'] });
/** Task 3 goes with its container, task 4 comes in a new one. */
const UNION = aPlacement({ 1: ['1', '2'], 2: ['3-'], 3: ['4'] });
const PACKING = paths.packingPlan(TOPOLOGY.name);

function claim(packing: PackingPlan, container: number) {
  const address = anAddress(container);
  const instances = expectedInstances(packing).filter((each) => each.streamManager === address.id);
  return { address, instances };
}

/** As `heron update` does. */
async function update(tree: MemoryStateTree, packing: PackingPlan): Promise<void> {
  const stateManager = new MemoryStateManager(tree);
  const epoch = await stateManager.nextEpoch(TOPOLOGY.id);
  await stateManager.write(PACKING, encodePackingPlan({ ...packing, epoch }));
}

/** The same, but the master's watch does not hear of it. */
async function updateUnheard(tree: MemoryStateTree, packing: PackingPlan): Promise<void> {
  const epoch = await new MemoryStateManager(tree).nextEpoch(TOPOLOGY.id);
  tree.nodes.set(PACKING, { bytes: encodePackingPlan({ ...packing, epoch }) });
}

async function storedTasks({ stateManager }: RunningMaster): Promise<readonly number[]> {
  const bytes = await stateManager.read(PACKING);
  const { containers } = decodePackingPlan(bytes ?? assert.fail());
  return containers.flatMap(({ instances }) => instances.map(({ task }) => Number(task)));
}

const tasksOf = ({ plans }: ScriptedStreamManager) =>
  plans
    .at(-1)
    ?.newPplan?.instances.map(({ info }) => `${info?.taskId}${info?.retiring ? '-' : ''}`);

interface Running {
  readonly tree: MemoryStateTree;
  readonly running: RunningMaster;
  readonly first: ScriptedStreamManager;
  readonly second: ScriptedStreamManager;
}

async function aRunningTopology(t: TestContext, clock?: ManualClock): Promise<Running> {
  const tree = new MemoryStateTree();
  const fixture = { tree, packing: BASE, ...(clock && { clock }) };
  const running = await RunningMaster.start(t, fixture);
  const [first, second] = [await running.connect(), await running.connect()];
  await first.register(claim(BASE, 1));
  await second.register(claim(BASE, 2));
  await eventually(() => first.plans.length === 1 && second.plans.length === 1);
  return { tree, running, first, second };
}

/** All work by the plan that they have: the new spout tasks in it begin with the next one. */
async function begin(all: readonly ScriptedStreamManager[]): Promise<void> {
  const joining = all[0]?.planEpochs.at(-1) ?? assert.fail();
  for (const each of all) await each.beatWith({ planEpoch: joining });
  await eventually(() => all.every(({ planEpochs }) => (planEpochs.at(-1) ?? 0) > joining));
}

const command = (running: RunningMaster, path: string, parameters = '') => {
  const headers = { 'x-heron-token': TOKEN };
  const target = `${path}?topologyid=${TOPOLOGY.id}${parameters}`;
  return running.get('controller', target, { headers });
};

test('an update goes through its plans on the connections that are there', async (t) => {
  const { tree, running, first, second } = await aRunningTopology(t);
  await update(tree, UNION);
  const third = await running.connect();
  const welcome = await third.register(claim(UNION, 3));
  assert.equal(welcome.status?.status, StatusCode.OK);
  assert.equal(welcome.pplan, undefined);
  const all = [first, second, third];
  await eventually(() => all.every((each) => tasksOf(each)?.join(' ') === '1 2 3- 4'));
  assert.equal(first.closeReason, undefined);

  await begin(all);
  await second.beatWith({ retiredTaskIds: [3] });
  await eventually(() => all.every((each) => tasksOf(each)?.join(' ') === '1 2 4'));
  assert.deepEqual(await storedTasks(running), [1, 2, 3, 4]);
  const planEpoch = first.planEpochs.at(-1) ?? assert.fail();
  await first.beatWith({ planEpoch });
  await third.beatWith({ planEpoch: planEpoch - 1 });
  assert.deepEqual(await storedTasks(running), [1, 2, 3, 4]);
  await third.beatWith({ planEpoch });
  await eventually(async () => (await storedTasks(running)).join(' ') === '1 2 4');
  assert.deepEqual(running.failures, []);
});

test('one that serves more now registers again on its connection', async (t) => {
  const { tree, running, first, second } = await aRunningTopology(t);
  const grown = aPlacement({ 1: ['1', '2', '4'], 2: ['3'] });
  await update(tree, grown);
  const answer = await first.register(claim(grown, 1));
  assert.equal(answer.status?.status, StatusCode.OK);
  await eventually(() => [first, second].every((each) => tasksOf(each)?.length === 4));
  assert.equal((await first.beat()).status?.status, StatusCode.OK);
  assert.deepEqual(await running.absent(), []);
});

test('one that knows a newer packing plan than the master is not refused for it', async (t) => {
  const { tree, first, second } = await aRunningTopology(t);
  const grown = aPlacement({ 1: ['1', '2', '4'], 2: ['3'] });
  await updateUnheard(tree, grown);
  const answer = await first.register(claim(grown, 1));
  assert.equal(answer.status?.status, StatusCode.OK);
  await eventually(() => [first, second].every((each) => tasksOf(each)?.length === 4));
});

test('a registration that is refused takes nothing away from the one before', async (t) => {
  const { running, first } = await aRunningTopology(t);
  const wrong = claim(aPlacement({ 1: ['1', '9'] }), 1);
  const answer = await first.register(wrong);
  assert.match(answer.status?.message ?? '', /^NOT_EXPECTED/);
  assert.equal((await first.beat()).status?.status, StatusCode.OK);
  assert.deepEqual(await running.absent(), []);
});

test('a stream manager that is in no plan yet gets none', async (t) => {
  const { tree, running, first } = await aRunningTopology(t);
  const grown = aPlacement({ 1: ['1', '2'], 2: ['3'], 3: ['4'], 4: ['5'] });
  await update(tree, grown);
  const third = await running.connect();
  await third.register(claim(grown, 3));
  assert.equal((await command(running, '/deactivate')).status, 200);
  await eventually(() => first.plans.length === 2);
  assert.equal((await third.beat()).status?.status, StatusCode.OK);
  assert.deepEqual(third.plans, []);
  const fourth = await running.connect();
  await fourth.register(claim(grown, 4));
  await eventually(() => third.plans.length === 1 && fourth.plans.length === 1);
  assert.equal((await running.storedPlan())?.topology.state, 'PAUSED');
});

test('tasks that do not retire are taken away after their time', async (t) => {
  const clock = new ManualClock();
  const { tree, running, first, second } = await aRunningTopology(t, clock);
  await update(tree, aPlacement({ 1: ['1', '2'], 2: ['3-'] }));
  await eventually(() => tasksOf(first)?.join(' ') === '1 2 3-');
  const beats = async (): Promise<void> => {
    await first.beat();
    await second.beat();
  };
  for (let seconds = 0; seconds < 59; seconds += 1) {
    clock.advance(1_000);
    await beats();
  }
  assert.equal(first.plans.length, 2);
  clock.advance(1_000);
  await eventually(() => tasksOf(first)?.join(' ') === '1 2');
  // The end of the topology names what may have been lost.
  await first.beatWith({ endedTaskIds: [1, 2], planEpoch: first.planEpochs.at(-1) ?? 0 });
  const path = paths.completed(TOPOLOGY.name);
  const bytes = await eventually(async () => (await running.stateManager.read(path)) ?? false);
  const { result, incidents } = parseCompletion(bytes);
  assert.equal(result, 'completed-with-losses');
  assert.deepEqual(
    incidents.map(({ process }) => process),
    ['container_2_word_3'],
  );
});

test('a topology is complete without the tasks that have left it', async (t) => {
  const { tree, running, first, second } = await aRunningTopology(t);
  await update(tree, aPlacement({ 1: ['1', '2'], 2: ['3-'] }));
  await eventually(() => tasksOf(first)?.join(' ') === '1 2 3-');
  await first.beat(1, 2);
  const path = paths.completed(TOPOLOGY.name);
  assert.equal(await running.stateManager.read(path), undefined);
  await second.beatWith({ retiredTaskIds: [3] });
  const bytes = await eventually(async () => (await running.stateManager.read(path)) ?? false);
  assert.equal(parseCompletion(bytes).result, 'completed');
});

test('a master that was started again in the middle finishes the update', async (t) => {
  const { tree, running, first } = await aRunningTopology(t);
  await update(tree, UNION);
  const third = await running.connect();
  await third.register(claim(UNION, 3));
  await eventually(() => tasksOf(first)?.join(' ') === '1 2 3- 4');
  await running.master.close();
  await running.stateManager.close();

  const next = await RunningMaster.start(t, { tree, isSubmitted: true });
  const peers: ScriptedStreamManager[] = [];
  let joining = 0;
  for (const container of [1, 2, 3]) {
    const peer = await next.connect();
    const answer = await peer.register(claim(UNION, container));
    assert.equal(answer.pplan?.instances.length, 4);
    joining = Number(answer.pplan.epoch);
    peers.push(peer);
  }
  for (const peer of peers) await peer.beatWith({ planEpoch: joining });
  await eventually(() => peers.every(({ plans }) => plans.length > 0));
  await peers[1]?.beatWith({ retiredTaskIds: [3] });
  await eventually(() => peers.every((each) => tasksOf(each)?.join(' ') === '1 2 4'));
  for (const peer of peers) await peer.beatWith({ planEpoch: peer.planEpochs.at(-1) ?? 0 });
  await eventually(async () => (await storedTasks(next)).join(' ') === '1 2 4');
});

test('config changes by HTTP reach all, and stay over a restart', async (t) => {
  const { tree, running, first } = await aRunningTopology(t);
  const config = '&runtime-config=topology.max.spout.pending:7&runtime-config=word:mine:8';
  assert.equal((await command(running, '/runtime_config/update', config)).status, 200);
  await eventually(() => first.plans.length === 2);
  assert.equal((await command(running, '/runtime_config/update', config)).status, 200);
  const refused = await command(
    running,
    '/runtime_config/update',
    '&runtime-config=topology.stmgrs:3',
  );
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /topology\.stmgrs is read when a process starts/);
  assert.equal(first.plans.length, 2);
  await running.master.close();
  await running.stateManager.close();
  const next = await RunningMaster.start(t, { tree, isSubmitted: true });
  const topology = next.master.plan?.topology ?? assert.fail();
  assert.equal(topology.config.get('topology.max.spout.pending:runtime'), '7');
  assert.equal(topology.components[0]?.config.get('mine:runtime'), '8');
});

test('O18: commands to a master that was fenced are refused', async (t) => {
  const { tree, running, first } = await aRunningTopology(t);
  await first.register({ ...claim(BASE, 1), masterEpoch: 99 });
  assert.equal(running.failures[0]?.code, 'STALE_EPOCH');
  for (const [path, parameters] of [
    ['/deactivate', ''],
    ['/runtime_config/update', '&runtime-config=mine:1'],
  ] as const) {
    const answer = await command(running, path, parameters);
    assert.equal(answer.status, 500);
    assert.match(await answer.text(), /the master shuts down/);
  }
  await update(tree, aPlacement({ 1: ['1', '2'], 2: ['3-'] }));
  await first.beat();
  const plan = await running.storedPlan();
  assert.equal(plan?.topology.state, 'RUNNING');
  assert.equal(first.plans.length, 1);
});

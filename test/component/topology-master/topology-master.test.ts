/*
  A real topology master over real sockets, with scripted stream managers.
*/
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { containerId } from '../../../src/base/ids.ts';
import { parseCompletion } from '../../../src/model/completion.ts';
import { encodeContainerReport } from '../../../src/model/container-report.ts';
import {
  MemoryStateManager,
  MemoryStateTree,
} from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { StatusCode, TopologyMasterLocation } from '../../../src/wire/messages.ts';
import { encodePackingPlan } from '../../../src/wire/packing-plan.ts';
import { encodeTopology } from '../../../src/wire/topology.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { aPackingPlan, anAddress } from '../../support/placements.ts';
import { settled } from '../../support/settled.ts';
import { HOST, instancesOf, RunningMaster, TOKEN, TOPOLOGY } from './running-master.ts';

const LOCATION = paths.topologyMaster(TOPOLOGY.name);
const CLAIM = { address: anAddress(1), instances: instancesOf(anAddress(1).id) };

/** A master with both stream managers and the first plan, whose epoch is 2. */
async function aRunningTopology(t: TestContext, fixture = {}) {
  const running = await RunningMaster.start(t, fixture);
  const first = await running.registered(1);
  const second = await running.registered(2);
  await eventually(() => first.plans.length === 1 && second.plans.length === 1);
  return { running, first, second };
}

test('the location node says where the master listens and which incarnation it is', async (t) => {
  const { master, stateManager } = await RunningMaster.start(t);
  const bytes = await stateManager.read(LOCATION);
  assert.ok(bytes);
  const { host, serverPort, controllerPort, statsPort, epoch } =
    TopologyMasterLocation.decode(bytes);
  assert.deepEqual(
    { server: serverPort, controller: controllerPort, stats: statsPort },
    master.ports,
  );
  assert.equal(host, HOST);
  assert.equal(epoch, 1n);
});

test('when all have registered they get one stored plan', async (t) => {
  const { running, first, second } = await aRunningTopology(t);
  assert.deepEqual(first.planEpochs, [2]);
  assert.deepEqual(second.planEpochs, [2]);
  assert.equal(first.plans[0]?.masterEpoch, 1n);
  const stored = await running.storedPlan();
  assert.deepEqual(stored?.streamManagers, [anAddress(1), anAddress(2)]);
  assert.equal(stored?.instances.length, 3);
});

test('one that comes back gets the plan with its answer, and nobody else is told', async (t) => {
  const { running, first, second } = await aRunningTopology(t);
  first.connection.close();
  const again = await running.connect();
  const answer = await again.register(CLAIM);
  assert.equal(answer.status?.status, StatusCode.OK);
  assert.equal(answer.pplan?.epoch, 2n);
  assert.equal(answer.masterEpoch, 1n);
  assert.equal((await again.beat()).status?.status, StatusCode.OK);
  assert.deepEqual(second.planEpochs, [2]);
});

test('one that was started again elsewhere makes a new plan for all', async (t) => {
  const { running, first, second } = await aRunningTopology(t);
  first.connection.close();
  const again = await running.connect();
  const address = anAddress(1, { dataPort: 9, pid: 9 });
  await again.register({ ...CLAIM, address });
  await eventually(() => again.plans.length === 1 && second.plans.length === 2);
  assert.deepEqual(second.planEpochs, [2, 3]);
  assert.deepEqual((await running.storedPlan())?.streamManagers, [address, anAddress(2)]);
});

test('a second process with the same id is refused while the first is heard', async (t) => {
  const { running, first } = await aRunningTopology(t);
  const other = await running.connect();
  const answer = await other.register({ ...CLAIM, address: anAddress(1, { pid: 9 }) });
  assert.equal(answer.status?.status, StatusCode.DUPLICATE_STRMGR);
  assert.equal((await other.beat()).status?.status, StatusCode.INVALID_STMGR);
  assert.equal((await first.beat()).status?.status, StatusCode.OK);
});

test('the same process on a new connection replaces its old one', async (t) => {
  const { running, first } = await aRunningTopology(t);
  const again = await running.connect();
  assert.equal((await again.register(CLAIM)).status?.status, StatusCode.OK);
  await eventually(() => first.closeReason !== undefined);
  assert.equal((await again.beat()).status?.status, StatusCode.OK);
});

test('registering twice on one connection is harmless', async (t) => {
  const { first } = await aRunningTopology(t);
  assert.equal((await first.register(CLAIM)).status?.status, StatusCode.OK);
  assert.equal((await first.beat()).status?.status, StatusCode.OK);
});

test('a connection that changes its id gives up the first one, and only once', async (t) => {
  const { running, first, second } = await aRunningTopology(t);
  second.connection.close();
  const address = anAddress(2);
  await first.register({ address, instances: instancesOf(address.id) });
  const again = await running.connect();
  assert.equal((await again.register(CLAIM)).status?.status, StatusCode.OK);
  first.connection.close();
  await eventually(async () => (await running.absent()).includes('stmgr-2'));
  assert.equal((await again.beat()).status?.status, StatusCode.OK);
});

test('who comes before the master serves waits for it', async (t) => {
  const tree = new MemoryStateTree();
  const running = await RunningMaster.prepare(t, { tree });
  const older = new MemoryStateManager(tree);
  const location = { topologyName: TOPOLOGY.name, topologyId: TOPOLOGY.id, host: HOST };
  const fields = { ...location, serverPort: 1, controllerPort: 1 };
  const bytes = TopologyMasterLocation.encode(TopologyMasterLocation.create(fields));
  await older.create(LOCATION, bytes, { ephemeral: true });
  const started = running.master.start();
  const early = await eventually(() => running.connect());
  const answered = early.register(CLAIM);
  let isAnswered = false;
  void answered.then(() => {
    isAnswered = true;
  });
  // A heartbeat behind the registration is answered, so the registration has been read.
  assert.equal((await early.beat()).status?.status, StatusCode.INVALID_STMGR);
  assert.equal(isAnswered, false);
  await older.close();
  await started;
  assert.equal((await answered).status?.status, StatusCode.OK);
});

test('strangers are refused with the reason', async (t) => {
  const running = await RunningMaster.start(t);
  const stranger = await running.connect();
  const guess = await stranger.register({ ...CLAIM, token: 'guess' });
  assert.equal(guess.status?.status, StatusCode.NOTOK);
  assert.match(guess.status?.message ?? '', /NOT_AUTHORIZED/);
  const old = await stranger.register({ ...CLAIM, engineVersion: '0.0.1' });
  assert.match(old.status?.message ?? '', /VERSION_MISMATCH.*0\.0\.1/);
  const third = await stranger.register({ ...CLAIM, address: anAddress(3) });
  assert.equal(third.status?.status, StatusCode.INVALID_STMGR);
  assert.equal((await stranger.beat()).status?.status, StatusCode.INVALID_STMGR);
});

test('O18: a peer that has met a newer master ends this one', async (t) => {
  const { running, first } = await aRunningTopology(t);
  await first.register({ ...CLAIM, masterEpoch: 2 });
  assert.deepEqual(
    running.failures.map((error) => error.code),
    ['STALE_EPOCH'],
  );
});

test('a silent stream manager loses its connection; the plan stays', async (t) => {
  const clock = new ManualClock();
  const { running, first, second } = await aRunningTopology(t, { clock });
  for (let waited = 0; waited < 12; waited += 1) {
    clock.advance(1_000);
    await second.beat();
  }
  await eventually(() => first.closeReason !== undefined);
  assert.equal(second.closeReason, undefined);
  assert.equal((await running.storedPlan())?.epoch, 2);
  const again = await running.connect();
  assert.equal((await again.register(CLAIM)).pplan?.epoch, 2n);
});

test('O21: when all fall silent at once nobody loses anything', async (t) => {
  const clock = new ManualClock();
  const { first, second } = await aRunningTopology(t, { clock });
  for (let waited = 0; waited < 20; waited += 1) clock.advance(1_000);
  assert.equal((await first.beat()).status?.status, StatusCode.OK);
  assert.equal((await second.beat()).status?.status, StatusCode.OK);
});

test('the topology is complete when each task has ended', async (t) => {
  const { running, first, second } = await aRunningTopology(t);
  await first.beat(1);
  await second.beat(3);
  const path = paths.completed(TOPOLOGY.name);
  assert.equal(await running.stateManager.read(path), undefined);
  await first.beat(1, 2);
  const bytes = await eventually(async () => (await running.stateManager.read(path)) ?? false);
  const completion = parseCompletion(bytes);
  assert.equal(completion.topologyId, TOPOLOGY.id);
  assert.equal(completion.result, 'completed');
});

test('the record names an instance that its stream manager has lost', async (t) => {
  const { running, first, second } = await aRunningTopology(t);
  await first.beatWith({ endedTaskIds: [1], lostTaskIds: [2, 3] });
  await second.beat(3);
  await first.beatWith({ endedTaskIds: [1, 2], lostTaskIds: [2, 3] });
  const path = paths.completed(TOPOLOGY.name);
  const bytes = await eventually(async () => (await running.stateManager.read(path)) ?? false);
  const { result, incidents } = parseCompletion(bytes);
  assert.equal(result, 'completed-with-losses');
  // Task 3 is none of its own.
  const lost = CLAIM.instances.find(({ task }) => task === 2);
  assert.deepEqual(
    incidents.map(({ process, atMs }) => ({ process, atMs })),
    [{ process: lost?.id, atMs: 7 }],
  );
});

test('an end before the first plan is no loss, for a restarted master either', async (t) => {
  const tree = new MemoryStateTree();
  const running = await RunningMaster.start(t, { tree });
  const exit = { code: 1, signal: null, atMs: 5, reason: 'ended', lastLines: [] };
  const process = {
    name: 'stmgr-1',
    pid: 1,
    state: 'running',
    restarts: 1,
    startedAtMs: 6,
  } as const;
  const report = { containerId: containerId(1), host: HOST, pid: 1, startedAtMs: 0 };
  await running.stateManager.write(
    paths.container(TOPOLOGY.name, containerId(1)),
    encodeContainerReport({ ...report, processes: [{ ...process, lastExit: exit }] }),
  );
  await running.registered(1);
  const second = await running.registered(2);
  await eventually(() => second.plans.length === 1);
  await running.master.close();
  await running.stateManager.close();

  const next = await RunningMaster.start(t, { tree });
  const [one, two] = [await next.registered(1), await next.registered(2)];
  await one.beat(1, 2);
  await two.beat(3);
  const path = paths.completed(TOPOLOGY.name);
  const bytes = await eventually(async () => (await next.stateManager.read(path)) ?? false);
  assert.deepEqual(parseCompletion(bytes).incidents, []);
});

test('O17: the topology is paused and goes on by HTTP, and stays so over a restart', async (t) => {
  const tree = new MemoryStateTree();
  const { running, first } = await aRunningTopology(t, { tree });
  const headers = { 'x-heron-token': TOKEN };
  const command = (path: string) =>
    running.get('controller', `${path}?topologyid=${TOPOLOGY.id}`, { headers });
  assert.equal((await command('/deactivate')).status, 200);
  assert.equal((await command('/deactivate')).status, 200);
  await eventually(() => first.plans.length === 2);
  assert.equal((await running.storedPlan())?.topology.state, 'PAUSED');
  await running.master.close();
  await running.stateManager.close();

  const next = await RunningMaster.start(t, { tree });
  assert.equal(next.master.epoch, 4);
  const again = await next.connect();
  const answer = await again.register({ ...CLAIM, masterEpoch: 1 });
  assert.equal(answer.pplan?.epoch, 3n);
  assert.equal((await next.storedPlan())?.topology.state, 'PAUSED');
});

test('O12: a master whose node vanishes makes it again and goes on serving', async (t) => {
  const { running, first } = await aRunningTopology(t);
  const before = await running.stateManager.read(LOCATION);
  await running.stateManager.delete(LOCATION);
  await eventually(async () => (await running.stateManager.read(LOCATION)) !== undefined);
  assert.deepEqual(await running.stateManager.read(LOCATION), before);
  assert.equal((await first.beat()).status?.status, StatusCode.OK);
  assert.deepEqual(running.failures, []);
});

test('O14: a master whose session has expired goes on under the same epoch', async (t) => {
  const tree = new MemoryStateTree();
  const { running, first } = await aRunningTopology(t, { tree });
  const before = await running.stateManager.read(LOCATION);
  tree.expire(running.stateManager);
  await eventually(async () => (await running.stateManager.read(LOCATION)) !== undefined);
  assert.deepEqual(await running.stateManager.read(LOCATION), before);
  assert.equal((await first.beat()).status?.status, StatusCode.OK);
  assert.deepEqual(first.planEpochs, [2]);
  assert.deepEqual(running.failures, []);
});

test('O16: a lost state manager ends nothing', async (t) => {
  const { running, first } = await aRunningTopology(t);
  await running.stateManager.close();
  assert.equal((await first.beat()).status?.status, StatusCode.OK);
  assert.deepEqual(running.failures, []);
});

test('O18: a newer master ends an older one', async (t) => {
  const tree = new MemoryStateTree();
  const running = await RunningMaster.start(t, { tree });
  const usurper = new MemoryStateManager(tree);
  await usurper.delete(LOCATION);
  const location = TopologyMasterLocation.create({
    topologyName: TOPOLOGY.name,
    topologyId: TOPOLOGY.id,
    host: HOST,
    serverPort: 1,
    controllerPort: 1,
    epoch: 9n,
  });
  // The old master may be faster, which is its right; then the newer one has to try again.
  await eventually(async () => {
    await usurper.write(LOCATION, TopologyMasterLocation.encode(location));
    return running.failures.length > 0;
  });
  assert.equal(running.failures[0]?.code, 'STALE_EPOCH');
});

const FOREIGN: ReadonlyArray<readonly [string, Buffer]> = [
  ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
  ['a TLS greeting', Buffer.from('16030100c8010000c40303', 'hex')],
  ['zeros', Buffer.alloc(4_096)],
  ['a length beyond all limits', Buffer.from('ffffffff00000010', 'hex')],
];

for (const [name, bytes] of FOREIGN) {
  test(`${name} on the three ports ends those connections and nothing else`, async (t) => {
    const { running, first } = await aRunningTopology(t);
    const { server, controller, stats } = running.master.ports;
    for (const port of [server, controller, stats]) {
      const socket = connect(port, HOST);
      t.after(() => socket.destroy());
      const closed = new Promise((resolve) => {
        socket.on('close', resolve).on('error', resolve);
      });
      socket.resume().end(bytes);
      await closed;
    }
    assert.equal((await first.beat()).status?.status, StatusCode.OK);
  });
}

test('browsers are refused, and bodies beyond the limit', async (t) => {
  const running = await RunningMaster.start(t);
  const headers = { origin: 'http://evil.example' };
  assert.equal((await running.get('controller', '/activate', { headers })).status, 403);
  assert.equal((await running.get('stats', '/stats', { headers })).status, 403);
  const body = Buffer.alloc(2 * 1024 * 1024);
  const refused = await running.get('stats', '/stats', { method: 'POST', body }).then(
    (response) => response.status,
    () => 413, // The server may close before the client has sent everything.
  );
  assert.equal(refused, 413);
});

test('O42: a master of damaged records starts, and works by what stands in', async (t) => {
  const tree = new MemoryStateTree();
  const before = await RunningMaster.start(t, { tree });
  const first = await before.registered(1);
  await before.registered(2);
  await eventually(() => first.plans.length === 1);
  await before.master.close();
  await before.stateManager.close();
  const damaged = Buffer.from('truncated');
  const nodes = { topology: damaged, packing: damaged };
  const running = await RunningMaster.start(t, {
    tree,
    nodes,
    definition: encodeTopology(TOPOLOGY),
  });
  await running.registered(1);
  const second = await running.connect();
  const address = anAddress(2);
  const answer = await second.register({ address, instances: instancesOf(address.id) });
  assert.equal(answer.pplan?.epoch, 2n);
  assert.deepEqual((await running.storedPlan())?.topology, TOPOLOGY);
  assert.deepEqual(running.failures, []);
});

test('O42: what nothing stands in for is waited for until it is mended', async (t) => {
  const nodes = { topology: encodeTopology(TOPOLOGY), packing: Buffer.from('truncated') };
  const clock = new ManualClock();
  const running = await RunningMaster.prepare(t, { nodes, clock });
  let serves = false;
  const started = running.master.start().then(() => (serves = true));
  // Far beyond the time for which what is missing is waited for.
  for (let wait = 0; wait < 300; wait += 1) {
    await settled();
    clock.advance(2_000);
  }
  assert.deepEqual(running.failures, []);
  await running.stateManager.write(
    paths.packingPlan(TOPOLOGY.name),
    encodePackingPlan(aPackingPlan([2, 1])),
  );
  await eventually(async () => {
    clock.advance(2_000);
    await settled();
    return serves;
  });
  await started;
});

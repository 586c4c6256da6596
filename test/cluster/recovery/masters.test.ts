import assert from 'node:assert/strict';
import { test } from 'node:test';
import { topologyName } from '../../../src/base/ids.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { TopologyMasterLocation } from '../../../src/wire/messages.ts';
import { aCluster, type Cluster, PATIENTLY } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { type FoundProcess, listeningSockets } from '../../support/process-table.ts';
import { RunningPipeline } from '../../support/running-pipeline.ts';
import { twinOf } from '../../support/twin-process.ts';

/* The topology master dies again and again, and of two masters one is right. */

const RESTARTS = 10;
const PORT_TAKEN = 73;
const REFUSED = 77;
const MASTER = 'heron-tmanager';
const ENTRY = 'topology-master/main';
/** For stream managers, for commands, and for statistics. */
const PORTS = 3;
const OTHER_PORTS = { 'server-port': '0', 'controller-port': '0', 'stats-port': '0' };

/** What carries data, and who watches over it. */
function workers(pipeline: RunningPipeline): ReadonlyMap<string, number> {
  const own = [...pipeline.pids()].filter(([name]) => name !== MASTER);
  return new Map(own);
}

const isProcess =
  (pid: number) =>
  (found: FoundProcess): boolean =>
    found.pid === pid;

async function epochInForce(cluster: Cluster): Promise<number> {
  const bytes = await cluster.stateManager.read(paths.topologyMaster(topologyName('pipeline')));
  assert.ok(bytes !== undefined, 'no topology master serves');
  return Number(TopologyMasterLocation.decode(bytes).epoch);
}

test('O19: a master that dies ten times moves nobody, and no tuple fails', async (t) => {
  const cluster = await aCluster(t);
  const pipeline = await RunningPipeline.begin(cluster);
  try {
    await pipeline.untilState('RUNNING');
    const before = workers(pipeline);
    let epoch = await epochInForce(cluster);
    for (let round = 1; round <= RESTARTS; round += 1) {
      const pids = pipeline.pids();
      await cluster.killProcess(MASTER);
      await pipeline.areReplaced([MASTER], pids);
      const last = epoch;
      epoch = await eventually(async () => {
        const now = await epochInForce(cluster);
        assert.ok(now > last, `epoch ${now} serves`);
        return now;
      }, PATIENTLY);
    }
    await pipeline.goesOn();
    await pipeline.untilState('RUNNING');
    assert.deepEqual(workers(pipeline), before);
    const { containers } = await cluster.status(pipeline.name);
    const restarted = containers
      .flatMap(({ processes }) => processes)
      .filter(({ restarts }) => restarts > 0);
    assert.deepEqual(
      restarted.map(({ name, restarts }) => [name, restarts]),
      [[MASTER, RESTARTS]],
    );
    const { recovered } = await pipeline.end();
    assert.deepEqual(recovered, []);
    // One that fails comes again.
    assert.equal(pipeline.sunk.count, pipeline.written);
  } finally {
    pipeline.stopWriting();
  }
});

test('O12, O18: of two masters the older one is refused, and ends', async (t) => {
  const cluster = await aCluster(t);
  const { stateManager } = cluster;
  const pipeline = await RunningPipeline.begin(cluster);
  try {
    await pipeline.untilState('RUNNING');
    const before = workers(pipeline);
    const old = await cluster.process(MASTER);
    const first = await epochInForce(cluster);

    await t.test('a second one with the same flags finds the ports taken', async (subtest) => {
      const { code, output } = await twinOf(subtest, old, ENTRY).end;
      assert.equal(code, PORT_TAKEN, output);
      assert.equal(await epochInForce(cluster), first);
      await pipeline.goesOn();
    });

    const second = twinOf(t, old, ENTRY, OTHER_PORTS);
    await t.test('with other ports it waits while the first one lives', async () => {
      await eventually(() => {
        const listening = listeningSockets(cluster.processes().filter(isProcess(second.pid)));
        assert.equal(listening.size, PORTS);
      }, PATIENTLY);
      await pipeline.goesOn();
      assert.equal(await epochInForce(cluster), first);
    });

    // Stopped, and its place in the tree is gone, as when its session has run out.
    process.kill(old.pid, 'SIGSTOP');
    await stateManager.delete(paths.topologyMaster(topologyName(pipeline.name)));
    const secondEpoch = await eventually(async () => {
      const epoch = await epochInForce(cluster);
      assert.ok(epoch > first, `epoch ${epoch} serves`);
      return epoch;
    }, PATIENTLY);
    await pipeline.goesOn();
    process.kill(old.pid, 'SIGCONT');

    await t.test('the older one ends with the reason when it hears of the newer', async () => {
      const { lastExit } = await eventually(async () => {
        const found = await cluster.statusOf(pipeline.name, MASTER);
        assert.ok(found.lastExit !== null);
        return found;
      }, PATIENTLY);
      assert.equal(lastExit?.code, REFUSED);
      const text = `a newer topology master serves: epoch ${secondEpoch}, this one has ${first}`;
      assert.match(lastExit.reason, new RegExp(text));
      assert.equal(await epochInForce(cluster), secondEpoch);
    });

    await t.test('the newer one takes commands, and then makes room', async () => {
      const { place } = cluster;
      assert.equal((await cluster.heron('deactivate', place, pipeline.name)).code, 0);
      await pipeline.untilState('PAUSED');
      second.child.kill('SIGKILL');
      await second.end;
      await eventually(async () => {
        assert.ok((await epochInForce(cluster)) > secondEpoch);
      }, PATIENTLY);
      await pipeline.untilState('PAUSED');
      assert.equal((await cluster.heron('activate', place, pipeline.name)).code, 0);
      await pipeline.goesOn();
    });

    assert.deepEqual(workers(pipeline), before);
    await pipeline.end();
    assert.equal(pipeline.sunk.count, pipeline.written);
  } finally {
    pipeline.stopWriting();
  }
});

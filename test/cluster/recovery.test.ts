import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { topologyName } from '../../src/base/ids.ts';
import { paths } from '../../src/state-manager/paths.ts';
import { aCluster, type Cluster, PATIENTLY } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { RunningWordCount } from '../support/running-word-count.ts';

/* Parts that go away under a live topology, and come back: at another place, or after a while. */

const COMPLETED = 0;
const WITH_LOSSES = 106;

test('O12: a location node that is deleted is back, and data keeps flowing', async (t) => {
  const cluster = await aCluster(t);
  const { stateManager } = cluster;
  const words = await RunningWordCount.begin(cluster);
  const node = paths.topologyMaster(topologyName('word-count'));
  await stateManager.delete(node);
  await eventually(async () => {
    const log = await cluster.log('word-count', 0, 'heron-tmanager.log');
    assert.match(log, /the location node has vanished and is made again/);
    assert.ok((await stateManager.read(node)) !== undefined);
  }, PATIENTLY);
  await words.goOn();
  const { command, completion } = await words.end();
  assert.equal(command.code, COMPLETED, command.stdout + command.stderr);
  assert.deepEqual(completion.incidents, []);
  await words.assertCountsAreRight();
});

test('O35: a container that comes back elsewhere is found there and nowhere else', async (t) => {
  const cluster = await aCluster(t);
  const words = await RunningWordCount.begin(cluster);
  const old = await addressOf(cluster, 'stmgr-2');
  await cluster.killProcess('executor-2');
  await eventually(async () => {
    const { dataPort } = await addressOf(cluster, 'stmgr-2');
    assert.notEqual(dataPort, old.dataPort);
  }, PATIENTLY);
  let dials = 0;
  const listener = createServer((socket) => {
    dials += 1;
    socket.destroy();
  });
  listener.listen({ host: old.host, port: old.dataPort });
  await once(listener, 'listening');
  await words.goOn();
  const { command } = await words.end();
  listener.close();
  assert.equal(command.code, WITH_LOSSES, command.stdout + command.stderr);
  assert.equal(dials, 0);
});

async function addressOf(cluster: Cluster, streamManager: string) {
  const { streamManagers } = await cluster.physicalPlan('word-count');
  const found = streamManagers.find(({ id }) => id === streamManager);
  assert.ok(found !== undefined, `the plan has ${streamManager}`);
  return found;
}

/** Processes that need the state manager at their start, with the log that says why they wait. */
const STARTERS = [
  { process: 'heron-tmanager', container: 0, log: 'heron-tmanager.log' },
  { process: 'stmgr-1', container: 1, log: 'heron-stmgr-1.log' },
  { process: 'executor-0', container: 0, log: 'heron-executor-0.log' },
  { process: 'executor-1', container: 1, log: 'heron-executor-1.log' },
];

test('O15: what starts while the state manager is away says so, and recovers', async (t) => {
  const cluster = await aCluster(t);
  await cluster.submit('endless', 'endless', {
    config: { 'heron.executor.restart.attempts.max': 150 },
  });
  for (const { process, container, log } of STARTERS) {
    await t.test(`O15: ${process}`, async () => {
      const before = (await cluster.log('endless', container, log)).length;
      const bringBack = await takeAway(cluster);
      await cluster.killProcess(process);
      await eventually(async () => {
        const text = (await cluster.log('endless', container, log)).slice(before);
        assert.match(text, /"level":"(warn|error)".*(state|STATE_)/);
      }, PATIENTLY);
      await bringBack();
      await eventually(async () => {
        const { state, containers } = await cluster.status('endless');
        assert.equal(state, 'RUNNING', JSON.stringify(containers));
      }, PATIENTLY);
    });
  }
  await cluster.kill('endless');
});

/** Puts a file where the state tree has its folder; resolves to what undoes it. */
async function takeAway(cluster: Cluster): Promise<() => Promise<void>> {
  const root = join(cluster.dataRoot, 'repository', 'state', 'local');
  await rename(root, `${root}.away`);
  await writeFile(root, 'not a folder');
  return async () => {
    await rm(root);
    await rename(`${root}.away`, root);
  };
}

test('O26: kill takes processes that have just died for ended', async (t) => {
  const cluster = await aCluster(t);
  await cluster.submit('endless', 'endless');
  await cluster.killProcess('container_1_sink_2');
  await cluster.killProcess('executor-1');
  await cluster.kill('endless');
  assert.deepEqual(cluster.processes(), []);
});

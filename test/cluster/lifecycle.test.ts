import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { topologyName } from '../../src/base/ids.ts';
import { paths } from '../../src/state-manager/paths.ts';
import { aCluster, type Cluster, PATIENTLY } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { listeningSockets, stillListening } from '../support/process-table.ts';

/* Starting and ending topologies, also when their records are damaged. */

const TOPOLOGY_NOT_FOUND = 101;
const TOPOLOGY_EXISTS = 102;
const STATE_UNAVAILABLE = 104;

/** Rows O22 is about: each of them must leave nothing. */
const ROUNDS = 3;

test('O22: kill ends a bolt that ignores SIGTERM and blocks, and leaves nothing', async (t) => {
  const cluster = await aCluster(t);
  for (let round = 0; round < ROUNDS; round += 1) {
    await cluster.submit('endless', 'stubborn', {
      args: ['stubborn'],
      config: { 'heron.shutdown.grace.ms': 500 },
    });
    const running = cluster.processes();
    const sockets = listeningSockets(running);
    assert.ok(sockets.size > 0, 'a running topology listens');
    const [stubborn] = running.filter(({ name }) => name === 'container_1_stubborn_2');
    assert.ok(stubborn !== undefined, 'the bolt runs');
    await cluster.kill('stubborn');
    assert.deepEqual(
      { processes: cluster.processes(), sockets: stillListening(sockets) },
      { processes: [], sockets: [] },
      `round ${round}`,
    );
  }
});

test('what runs is not submitted twice, and what does not run is not killed', async (t) => {
  const cluster = await aCluster(t);
  await cluster.submit('endless', 'endless');
  const before = cluster.processes().map(({ pid }) => pid);
  const again = await cluster.trySubmit('endless', 'endless');
  assert.equal(again.code, TOPOLOGY_EXISTS, again.stderr);
  assert.match(again.stderr, /^error: .*endless.*\nNext: /m);
  assert.deepEqual(
    cluster.processes().map(({ pid }) => pid),
    before,
  );
  await cluster.kill('endless');
  const absent = await cluster.tryKill('endless');
  assert.equal(absent.code, TOPOLOGY_NOT_FOUND, absent.stderr);
  assert.match(absent.stderr, /^error: there is no topology 'endless'.*\nNext: /m);
});

test('a state root that cannot be written is one clear message', async (t) => {
  const cluster = await aCluster(t);
  const inTheWay = join(cluster.dataRoot, 'repository', 'state');
  await mkdir(dirname(inTheWay));
  await writeFile(inTheWay, 'a file, where a folder has to be');
  const end = await cluster.trySubmit('endless', 'endless');
  assert.equal(end.code, STATE_UNAVAILABLE, end.stderr);
  assert.match(end.stderr, /^error: .*repository\/state.*\nNext: .*HERON_DATA/m);
  await rm(inTheWay);
});

const NAME = topologyName('endless');

const NODES = [
  { node: 'topology', path: paths.topology(NAME) },
  { node: 'packing plan', path: paths.packingPlan(NAME) },
  { node: 'physical plan', path: paths.physicalPlan(NAME) },
];

const DAMAGES: readonly (readonly [string, (bytes: Uint8Array) => Uint8Array])[] = [
  ['truncated', (bytes) => bytes.subarray(0, bytes.length / 2)],
  ['corrupt', (bytes) => bytes.map((byte, at) => (at % 3 === 0 ? byte ^ 0xff : byte))],
];

test('damaged records of a running topology', async (t) => {
  const cluster = await aCluster(t);
  const { stateManager } = cluster;
  await cluster.submit('endless', 'endless');
  for (const { node, path } of NODES) {
    const sound = await stateManager.read(path);
    assert.ok(sound !== undefined);
    for (const [damage, apply] of DAMAGES) {
      await t.test(`status names a ${damage} ${node}`, async () => {
        await stateManager.write(path, apply(sound));
        const { state, damage: messages } = await cluster.status('endless');
        assert.equal(state, 'DAMAGED');
        assert.equal(messages.length, 1);
        assert.match(messages[0] ?? '', new RegExp(`^the node ${path} is damaged: `));
        await stateManager.write(path, sound);
        assert.equal((await cluster.status('endless')).state, 'RUNNING');
      });
    }
  }
  await t.test('a damaged physical plan is made again by the next topology master', () =>
    makesThePlanAgain(cluster),
  );
  await t.test('kill works when every record is damaged', async () => {
    for (const { path } of NODES) await stateManager.write(path, Buffer.from([0xff]));
    await cluster.kill('endless');
  });
});

async function makesThePlanAgain(cluster: Cluster): Promise<void> {
  await cluster.stateManager.write(paths.physicalPlan(NAME), Buffer.from([0xff]));
  await cluster.killProcess('heron-tmanager');
  await eventually(async () => {
    assert.equal((await cluster.status('endless')).state, 'RUNNING');
  }, PATIENTLY);
  const log = await cluster.log('endless', 0, 'heron-tmanager.log');
  assert.match(log, /pplans\/endless cannot be read and will be made again/);
}

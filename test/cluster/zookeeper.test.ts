import assert from 'node:assert/strict';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { topologyName } from '../../src/base/ids.ts';
import { paths } from '../../src/state-manager/paths.ts';
import type { ZooKeeperClient } from '../../src/state-manager/zookeeper/zookeeper-client.ts';
import { type Cluster, PATIENTLY } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { RunningWordCount } from '../support/running-word-count.ts';
import { aZooKeeperCluster } from '../support/zookeeper-cluster.ts';
import { withoutZooKeeper } from '../support/zookeeper-server.ts';

/* Topologies whose state is in a real ZooKeeper, by the commands and settings that a user has. */

const NAME = topologyName('word-count');
const STATE_UNAVAILABLE = 104;

/** All nodes without others below them. */
async function leaves(client: ZooKeeperClient, path = ''): Promise<readonly string[]> {
  const names = await client.getChildren(path === '' ? '/' : path);
  if (names.length === 0) return [path];
  const below = await Promise.all(names.map((name) => leaves(client, `${path}/${name}`)));
  return below.flat().toSorted();
}

/** The processes of the topology and which of them they are. */
function engineProcesses(cluster: Cluster): readonly string[] {
  return cluster
    .processes()
    .map(({ name, pid }) => `${name} ${pid}`)
    .filter((text) => !text.startsWith('heron '))
    .toSorted();
}

describe('a cluster with its state in ZooKeeper', { skip: withoutZooKeeper() }, () => {
  it('is used like any other, and nothing is left of a topology that was killed', async (t) => {
    const { cluster, client } = await aZooKeeperCluster(t);
    assert.equal((await cluster.heron('doctor', 'zk')).code, 0);
    const folders = await leaves(client);
    const gate = join(cluster.folder, 'gate');
    const progress = join(cluster.folder, 'progress');
    await cluster.submit('word-count', NAME, { args: [gate, progress, 20_000, 20_000] });
    await eventually(() => access(progress), PATIENTLY);
    const listed = await cluster.heron('list', 'zk', '--json');
    assert.match(listed.stdout, /"name": ?"word-count"[\s\S]*"cluster": ?"zk"/);
    const { state, containers } = await cluster.status(NAME);
    assert.deepEqual([state, containers.length], ['RUNNING', 3]);
    assert.match((await cluster.logs(NAME)).stdout, /stmgr-1/);
    assert.ok((await leaves(client)).includes('/topologies/word-count'));
    assert.ok(!folders.includes('/topologies/word-count'));
    await cluster.kill(NAME);
    // Folders that were made stay, as those of files do; nodes do not.
    for (const path of await leaves(client)) {
      assert.match(path, /^\/[a-z]+$|^\/\.heron-ts\/[a-z]+$/, 'a node is left');
    }
    assert.deepEqual(cluster.processes(), []);
  });

  it('O12, O14, O16: loses no word while the store is away longer than its sessions', async (t) => {
    const { server, proxy, cluster, client } = await aZooKeeperCluster(t);
    const words = await RunningWordCount.begin(cluster);
    await cluster.status(NAME);
    const before = engineProcesses(cluster);
    const location = await client.getData('/tmanagers/word-count');

    // All sessions run out: the servers hear of nobody.
    proxy.fault = { kind: 'blackhole' };
    await eventually(async () => {
      const ephemeral = ['tmanagers', 'metricscaches', 'schedulers', '.heron-ts/owners'];
      for (const folder of ephemeral) {
        assert.deepEqual(await client.getChildren(`/${folder}`), [], folder);
      }
    }, PATIENTLY);
    const away = await cluster.heron('status', cluster.place, NAME);
    assert.equal(away.code, STATE_UNAVAILABLE, away.stderr);
    assert.match(away.stderr, /zookeeper:\/\/127\.0\.0\.1:\d+\/heron: none of the servers/);
    assert.match(away.stderr, /^Next: see that ZooKeeper runs .* running topologies go on/m);
    proxy.fault = { kind: 'none' };
    proxy.cutNow();

    // The master has another session, its place in the tree, and its epoch.
    await eventually(async () => {
      const { data, stat } = await client.getData('/tmanagers/word-count');
      assert.notEqual(stat.ephemeralOwner, location.stat.ephemeralOwner);
      assert.deepEqual(data, location.data);
    }, PATIENTLY);
    for (const path of [paths.metricsCache(NAME), paths.scheduler(NAME)]) {
      await eventually(() => client.getData(`/${path}`), PATIENTLY);
    }
    assert.match(await cluster.log(NAME, 0, 'heron-tmanager.log'), /session is lost/);
    assert.deepEqual(engineProcesses(cluster), before);
    const { state, containers } = await cluster.status(NAME);
    assert.equal(state, 'RUNNING');
    for (const { name, restarts } of containers.flatMap(({ processes }) => processes)) {
      assert.equal(restarts, 0, name);
    }

    // The rest of the input goes through while the server is stopped.
    server.pause();
    await words.goOn();
    await eventually(() => words.assertCountsAreRight(), PATIENTLY);
    server.resume();
    const { command, completion } = await words.end();
    assert.equal(command.code, 0, command.stdout + command.stderr);
    assert.deepEqual([completion.result, completion.incidents], ['completed', []]);
    assert.doesNotMatch(command.stdout, /started again|restart/);
  });

  it('O15: waits for a store that comes late, and says so when it never does', async (t) => {
    const { server, cluster } = await aZooKeeperCluster(t);
    const gate = join(cluster.folder, 'gate');
    await writeFile(gate, '');
    await server.kill();
    const never = await cluster.trySubmit('word-count', NAME, { args: [gate, gate, 100, 100] });
    assert.equal(never.code, STATE_UNAVAILABLE, never.stderr);
    assert.match(never.stderr, /^error: .*zookeeper:\/\/127/m);
    await server.restart();
    await cluster.submit('word-count', NAME, { args: [gate, gate, 100, 100] });
    assert.equal((await cluster.completion(NAME)).result, 'completed');
  });
});

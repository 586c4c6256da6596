import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { moduleWarnings, readConfigLayers } from '../../../src/config/config-layers.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { encodeTopology } from '../../../src/wire/topology.ts';
import { runInProcess } from '../../support/command-line.ts';
import { stateManagerAt } from '../../support/state-manager-at.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { aSpout, aTopology } from '../../support/topologies.ts';

const INVOCATION = 1;
const STATE_UNAVAILABLE = 104;
/** Nobody listens there. */
const DEAD = '127.0.0.1:1';
const IMPATIENT = 'heron.statemgr.zookeeper.connection.timeout.ms: 200\n';

/** A data root whose configuration has a cluster `zk` with these settings. */
async function clusterZk(t: TestContext, text: string) {
  const { path } = await temporaryFolder(t);
  const folder = join(path, 'config', 'zk');
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'statemgr.yaml');
  await writeFile(file, text);
  return {
    path,
    file,
    heron: (...args: readonly string[]) => runInProcess(path, args),
  };
}

describe('clusters', () => {
  it('that are not there are named with those that are', async (t) => {
    const { heron } = await clusterZk(t, '');
    const commands = [
      ['list', 'mars'],
      ['status', 'mars/me/dev', 'words'],
      ['kill', 'mars/me/dev', 'words'],
      ['submit', '--dry-run', 'mars/me/dev', 'words.ts', 'words'],
      ['config', 'show', 'mars'],
      ['doctor', 'mars'],
    ];
    for (const command of commands) {
      const { code, stderr } = await heron(...command);
      assert.equal(code, INVOCATION, command.join(' '));
      assert.match(
        stderr,
        /there is no cluster 'mars'; there is 'local', 'zk'; settings in .*mars/,
      );
    }
  });

  it('have their state where their address says, each its own', async (t) => {
    const { path } = await temporaryFolder(t);
    const folder = join(path, 'elsewhere with space');
    const { heron } = await clusterZk(t, `heron.statemgr.address: file://${encodeURI(folder)}\n`);
    const state = stateManagerAt(folder);
    t.after(() => state.close());
    await state.write('topologies/words', Buffer.from('damaged'));
    const { code, stdout } = await heron('list', 'zk', '--json');
    assert.equal(code, 0);
    const { topologies } = JSON.parse(stdout) as { topologies: { name: string }[] };
    assert.deepEqual(
      topologies.map(({ name }) => name),
      ['words'],
    );
    assert.match((await heron('list', 'local')).stdout, /there are no topologies/);
    assert.match((await heron('list', 'zk')).stdout, /words/);
  });

  it("are used with Heron's own statemgr.yaml as it is", async (t) => {
    const { heron } = await clusterZk(
      t,
      `heron.class.state.manager: org.apache.heron.statemgr.zookeeper.curator.CuratorStateManager
heron.statemgr.connection.string: "${DEAD}"
heron.statemgr.root.path: "/heron"
heron.statemgr.zookeeper.is.initialize.tree: True
heron.statemgr.zookeeper.session.timeout.ms: 30000
heron.statemgr.zookeeper.connection.timeout.ms: 200
heron.statemgr.zookeeper.retry.count: 10
heron.statemgr.zookeeper.retry.interval.ms: 10000
heron.statemgr.is.tunnel.needed: False
heron.statemgr.tunnel.host: "my.tunnel.host"
`,
    );
    const { code, stderr } = await heron('list', 'zk');
    assert.equal(code, STATE_UNAVAILABLE, stderr);
    assert.match(stderr, /^error: cannot read .* at zookeeper:\/\/127\.0\.0\.1:1\/heron: none of/m);
    assert.match(stderr, /^Next: see that ZooKeeper runs at zookeeper:\/\/127\.0\.0\.1:1\/heron/m);
  });

  it("are used with Heron's statemgr.yaml for files", async (t) => {
    const root = '${HOME}/.herondata-of-nobody/${CLUSTER}';
    const text = `heron.statemgr.connection.string: LOCALMODE\nheron.statemgr.root.path: ${root}\n`;
    const { heron } = await clusterZk(t, text);
    const { stdout } = await heron('list', 'zk');
    assert.match(stdout, /there are no topologies in zk/);
    const { stdout: doctor } = await heron('config', 'show', 'zk', '--changed');
    assert.ok(doctor.includes(root) && !homedir().includes('nobody'));
  });

  it('are not reached in doubt: the doctor says so, with what to do', async (t) => {
    const { heron } = await clusterZk(
      t,
      `heron.statemgr.address: zookeeper://${DEAD}/heron\n${IMPATIENT}`,
    );
    const { code, stdout } = await heron('doctor', 'zk');
    assert.equal(code, 100);
    assert.match(stdout, /fail {2}state: cannot write .* at zookeeper:\/\/127\.0\.0\.1:1\/heron/);
    assert.match(stdout, /Next: see that ZooKeeper runs at/);
  });

  const wrong: readonly (readonly [what: string, text: string, why: RegExp])[] = [
    [
      'two addresses',
      'heron.statemgr.address: file:///a\nheron.statemgr.root.path: /b\n',
      /statemgr\.yaml:2: heron\.statemgr\.root\.path: it cannot stand beside/,
    ],
    [
      'no root',
      'heron.statemgr.connection.string: a:1\n',
      /statemgr\.yaml:1: .*heron\.statemgr\.root\.path is missing/,
    ],
    [
      'a class that does not fit',
      'heron.class.state.manager: ' +
        'org.apache.heron.statemgr.zookeeper.curator.CuratorStateManager\n' +
        'heron.statemgr.connection.string: LOCALMODE\nheron.statemgr.root.path: /a\n',
      /statemgr\.yaml:1: heron\.class\.state\.manager: .* has to be one of ZooKeeper's servers/,
    ],
    [
      'a wrong address',
      'heron.statemgr.address: zookeeper://a:0/heron\n',
      /statemgr\.yaml:1: heron\.statemgr\.address: .*'a:0' is no host with a port/,
    ],
    [
      'a wrong option',
      'heron.statemgr.address: zookeeper://a/heron\nheron.statemgr.zookeeper.tls.key.file: /k\n',
      /tls\.certificate\.file and tls\.key\.file need each other/,
    ],
    [
      'an unknown variable',
      'heron.statemgr.connection.string: a:1\nheron.statemgr.root.path: /${ROLE}\n',
      /there is no value for \$\{ROLE\}/,
    ],
    ['a number that is none', `${IMPATIENT.trim()}x\n`, /statemgr\.yaml:1: .*whole number/],
    ['broken YAML', 'a: [\n', /statemgr\.yaml/],
  ];
  for (const [what, text, why] of wrong) {
    it(`are refused with ${what}, and where it stands`, async (t) => {
      const { heron } = await clusterZk(t, text);
      const { code, stderr } = await heron('list', 'zk');
      assert.equal(code, INVOCATION, stderr);
      assert.match(stderr, why);
    });
  }

  it('may be shared by machines: what runs on another one is left alone', async (t) => {
    const { path } = await temporaryFolder(t);
    const { heron } = await clusterZk(t, `heron.statemgr.address: file://${path}\n`);
    const elsewhere = stateManagerAt(path);
    t.after(() => elsewhere.close());
    const topology = aTopology([aSpout('words')]);
    await elsewhere.write(paths.topology(topology.name), encodeTopology(topology));
    await elsewhere.create(paths.scheduler(topology.name), Buffer.from(''), { ephemeral: true });
    const module = join(import.meta.dirname, '../../cluster/cli/fixtures/topologies/short.ts');
    for (const command of [
      ['kill', 'zk', topology.name],
      ['submit', 'zk', module, topology.name],
      ['submit', '--replace', 'zk', module, topology.name],
    ]) {
      const { code, stderr } = await heron(...command);
      assert.equal(code, 100, stderr);
      assert.match(stderr, /the scheduler of words lives, but not on this machine/);
    }
    assert.ok((await elsewhere.read(paths.topology(topology.name))) !== undefined);
    await elsewhere.delete(paths.scheduler(topology.name));
    assert.equal((await heron('kill', 'zk', topology.name)).code, 0);
  });

  it('can be looked at whatever else is wrong in their settings', async (t) => {
    const { heron } = await clusterZk(t, 'topology.stmgrs: three\n');
    assert.equal((await heron('list', 'zk')).code, 0);
  });

  it('show no secret that somebody wrote into an address', async (t) => {
    const text = `heron.statemgr.address: zookeeper://ada:engine@${DEAD}/heron\n`;
    const { heron } = await clusterZk(t, text);
    for (const command of [
      ['list', 'zk'],
      ['doctor', 'zk'],
      ['config', 'show', 'zk'],
    ]) {
      const { stdout, stderr } = await heron(...command, '--verbose');
      assert.ok(!(stdout + stderr).includes('engine@'), command.join(' '));
    }
  });

  it('keep their state settings to themselves: no topology has them', async (t) => {
    const { path } = await clusterZk(t, `heron.statemgr.address: zookeeper://${DEAD}/heron\n`);
    const sources = { configRoot: join(path, 'config'), cluster: 'zk', variables: {} };
    const layers = await readConfigLayers({ ...sources, properties: new Map() });
    assert.ok(layers.entries.has('heron.statemgr.address'));
    assert.deepEqual([layers.below.size, layers.above.size], [0, 0]);
    const properties = new Map([['heron.statemgr.address', 'file:///a']]);
    await assert.rejects(readConfigLayers({ ...sources, properties }), {
      code: 'INVALID_CONFIG',
      message: /--config-property: heron\.statemgr\.address is the cluster's/,
    });
    const topology = { ...aTopology([]), config: properties };
    assert.deepEqual(moduleWarnings(topology, layers), [
      "'heron.statemgr.address' is the cluster's, not a topology's; it is passed over",
    ]);
  });
});

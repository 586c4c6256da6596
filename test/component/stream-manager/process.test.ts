import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { entryFile } from '../../../src/base/entry.ts';
import { EXIT } from '../../../src/base/exit-codes.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSystemRandom } from '../../../src/base/random.ts';
import { ENGINE_VERSION } from '../../../src/base/version.ts';
import { createStateManager } from '../../../src/state-manager/create.ts';
import { encodeTopology, topologyToMessage } from '../../../src/wire/topology.ts';
import { eventually } from '../../support/eventually.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { ScriptedInstance } from '../../support/scripted-instance.ts';
import { ScriptedTopologyMaster } from '../../support/scripted-topology-master.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { aSpout, aTopology } from '../../support/topologies.ts';

const TOKEN = 'the token of the test';
const topology = aTopology([aSpout('word')]);
const plan = aPlanOf(topology, ['word', 1]);

async function start(t: TestContext, flags: Readonly<Record<string, string>> = {}) {
  const { path: folder } = await temporaryFolder(t);
  const definitionFile = join(folder, 'words.defn');
  await writeFile(definitionFile, encodeTopology(topology));
  const all: Record<string, string> = {
    'topology-name': topology.name,
    'topology-id': topology.id,
    cluster: 'local',
    role: 'me',
    environ: 'test',
    host: '127.0.0.1',
    'container-id': '1',
    'state-root': join(folder, 'state'),
    'definition-file': definitionFile,
    'log-directory': folder,
    id: 'stmgr-1',
    'instance-ids': 'container_1_word_1',
    'data-port': '0',
    'local-data-port': '0',
    'metrics-manager-port': '1',
    'shell-port': '0',
    ...flags,
  };
  const args = Object.entries(all).map(([name, value]) => `--${name}=${value}`);
  const child = spawn(process.execPath, [entryFile('stream-manager/main'), ...args], {
    env: { ...process.env, HERON_TOKEN: TOKEN },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  t.after(() => child.kill('SIGKILL'));
  return { child, folder };
}

async function exitCode(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}

describe('the process of a stream manager', () => {
  it('serves its instance, logs, and ends in an orderly way', async (t) => {
    const localDataPort = await aFreePort();
    const { child, folder } = await start(t, { 'local-data-port': `${localDataPort}` });
    const stateManager = createStateManager({
      kind: 'file',
      root: join(folder, 'state'),
      clock: systemClock,
      random: createSystemRandom(),
      logger: silentLogger,
    });
    t.after(() => stateManager.close());
    await ScriptedTopologyMaster.start(t, {
      stateManager,
      plan,
      topology: topologyToMessage(topology),
    });
    const instance = await eventually(() => ScriptedInstance.connect(t, localDataPort));
    const [word] = plan.instances;
    assert.ok(word !== undefined);
    await instance.register(word, {
      topologyName: topology.name,
      topologyId: topology.id,
      token: TOKEN,
      engineVersion: ENGINE_VERSION,
      creditBytes: 1_000,
    });
    const given = await instance.plan();
    assert.equal(given.streamManagers[0]?.localDataPort, localDataPort);
    child.kill('SIGTERM');
    assert.equal(await exitCode(child), EXIT.ok);
    const log = await readFile(join(folder, 'heron-stmgr-1.log'), 'utf8');
    assert.match(log, /all instances and stream managers are connected/);
    assert.doesNotMatch(log, new RegExp(TOKEN));
  });

  it('ends with its parent', async (t) => {
    const { child } = await start(t);
    child.stdin?.end();
    assert.equal(await exitCode(child), EXIT.ok);
  });

  it('says by its exit code that a port is taken', async (t) => {
    const server = createServer().listen({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as { readonly port: number };
    const { child } = await start(t, { 'data-port': `${port}` });
    assert.equal(await exitCode(child), EXIT.portInUse);
  });

  it('says by its exit code that a flag is wrong', async (t) => {
    const { child } = await start(t, { 'data-port': 'none' });
    assert.equal(await exitCode(child), EXIT.badArguments);
  });
});

async function aFreePort(): Promise<number> {
  const server = createServer().listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, 'close');
  return port;
}

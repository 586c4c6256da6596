import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { EXIT } from '../../../src/base/exit-codes.ts';
import { ENGINE_VERSION } from '../../../src/base/version.ts';
import { topologyToMessage } from '../../../src/wire/topology.ts';
import { SubmittedTopology } from '../../support/engine-process.ts';
import { eventually } from '../../support/eventually.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { ScriptedInstance } from '../../support/scripted-instance.ts';
import { ScriptedTopologyMaster } from '../../support/scripted-topology-master.ts';
import { aSpout, aTopology } from '../../support/topologies.ts';

const TOKEN = 'the token of the test';
const topology = aTopology([aSpout('word')]);
const plan = aPlanOf(topology, ['word', 1]);

async function start(
  t: TestContext,
  flags: Readonly<Record<string, string | number>> = {},
  config: Readonly<Record<string, string>> = {},
) {
  const definition = { ...topology, config: new Map(Object.entries(config)) };
  const packing = packingPlanOf({ 1: ['word:1'] });
  const submitted = await SubmittedTopology.create(t, definition, packing);
  const ownFlags = {
    'container-id': 1,
    id: 'stmgr-1',
    'instance-ids': 'container_1_word_1',
    'data-port': 0,
    'local-data-port': 0,
    'metrics-manager-port': 1,
    'shell-port': 0,
  };
  const options = { flags: { ...ownFlags, ...flags }, token: TOKEN };
  return { submitted, ...submitted.start('stream-manager/main', options) };
}

describe('the process of a stream manager', () => {
  it('serves its instance, logs, and ends in an orderly way', async (t) => {
    const localDataPort = await aFreePort();
    const { submitted, child, end } = await start(t, { 'local-data-port': localDataPort });
    const { stateManager } = submitted;
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
    assert.equal((await end).code, EXIT.ok);
    const log = await submitted.readLog('heron-stmgr-1.log');
    assert.match(log, /all instances and stream managers are connected/);
    assert.doesNotMatch(log, new RegExp(TOKEN));
  });

  it('ends with its parent', async (t) => {
    const { child, end } = await start(t);
    child.stdin?.end();
    assert.equal((await end).code, EXIT.ok);
  });

  it('says by its exit code that a port is taken', async (t) => {
    const server = createServer().listen({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as { readonly port: number };
    const { end } = await start(t, { 'data-port': port });
    assert.equal((await end).code, EXIT.portInUse);
  });

  it('ends with the reason when the state manager never comes up (O15)', async (t) => {
    const impatient = { 'heron.check.tmanager.location.interval.ms': '500' };
    const { end } = await start(t, { state: 'file:///dev/null/state' }, impatient);
    const { code, stderr } = await end;
    assert.equal(code, EXIT.unavailable);
    assert.match(stderr, /^heron-stmgr cannot go on: .*topology master/);
  });

  it('says by its exit code that a flag is wrong', async (t) => {
    const { end } = await start(t, { 'data-port': 'none' });
    assert.equal((await end).code, EXIT.badArguments);
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

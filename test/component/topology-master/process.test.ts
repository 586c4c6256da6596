/*
  The topology master as a process of its own, with the file state manager: killed, started again,
  and unable to start.
*/
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { topologyId } from '../../../src/base/ids.ts';
import { tcpNetwork } from '../../../src/net/tcp-network.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { TopologyMasterLocation } from '../../../src/wire/messages.ts';
import { decodePhysicalPlan } from '../../../src/wire/physical-plan.ts';
import {
  type EngineProcess,
  type StartOptions,
  SubmittedTopology,
} from '../../support/engine-process.ts';
import { eventually } from '../../support/eventually.ts';
import { anAddress } from '../../support/placements.ts';
import { ScriptedStreamManager } from '../../support/scripted-stream-manager.ts';
import { HOST, instancesOf, PACKING, TOPOLOGY } from './running-master.ts';

const PORTS = { 'server-port': 0, 'controller-port': 0, 'stats-port': 0 };

/** A topology whose masters wait for half a second and no longer. */
const IMPATIENT = {
  ...TOPOLOGY,
  config: new Map([['heron.check.tmanager.location.interval.ms', '500']]),
};

class Submitted {
  readonly #t: TestContext;
  readonly #topology: SubmittedTopology;

  static async create(t: TestContext, topology = TOPOLOGY): Promise<Submitted> {
    return new Submitted(t, await SubmittedTopology.create(t, topology, PACKING));
  }

  private constructor(t: TestContext, topology: SubmittedTopology) {
    this.#t = t;
    this.#topology = topology;
  }

  get stateManager() {
    return this.#topology.stateManager;
  }

  start(options: StartOptions = {}): EngineProcess {
    const flags = { ...PORTS, 'metrics-manager-port': 1, ...options.flags };
    return this.#topology.start('topology-master/main', { ...options, flags });
  }

  /** Waits for the location of a master that is newer than `epoch`. */
  location(epoch = 0) {
    return eventually(async () => {
      const bytes = await this.stateManager.read(paths.topologyMaster(TOPOLOGY.name));
      const location = bytes && TopologyMasterLocation.decode(bytes);
      return location !== undefined && location.epoch > epoch && location;
    });
  }

  /** Registers the stream manager of a container; returns the epoch of the plan in the answer. */
  async register(port: number, container: number): Promise<number> {
    const manager = await ScriptedStreamManager.connect(this.#t, { host: HOST, port });
    const address = anAddress(container);
    const answer = await manager.register({ address, instances: instancesOf(address.id) });
    return Number(answer.pplan?.epoch);
  }

  storedPlan() {
    return eventually(async () => {
      const bytes = await this.stateManager.read(paths.physicalPlan(TOPOLOGY.name));
      return bytes !== undefined && decodePhysicalPlan(bytes);
    });
  }

  readLog(): Promise<string> {
    return this.#topology.readLog('heron-tmanager.log');
  }
}

test('a master that is killed and started again moves nothing', async (t) => {
  const submitted = await Submitted.create(t);
  let master = submitted.start();
  let location = await submitted.location();
  await submitted.register(location.serverPort, 1);
  await submitted.register(location.serverPort, 2);
  const plan = await submitted.storedPlan();

  for (let kills = 0; kills < 3; kills += 1) {
    master.child.kill('SIGKILL');
    await master.end;
    master = submitted.start();
    location = await submitted.location(Number(location.epoch));
    assert.equal(await submitted.register(location.serverPort, 1), plan.epoch);
    assert.deepEqual(await submitted.storedPlan(), plan);
  }
});

test('SIGTERM ends a master in an orderly way, and its location with it', async (t) => {
  const submitted = await Submitted.create(t);
  const { child, end } = submitted.start();
  await submitted.location();
  child.kill('SIGTERM');
  assert.equal((await end).code, 0);
  assert.equal(await submitted.stateManager.read(paths.topologyMaster(TOPOLOGY.name)), undefined);
});

test('the end of its executor ends a master', async (t) => {
  const submitted = await Submitted.create(t);
  const { child, end } = submitted.start();
  await submitted.location();
  child.stdin?.end();
  assert.equal((await end).code, 0);
});

test('a second master serves as soon as the first is gone', async (t) => {
  const submitted = await Submitted.create(t);
  const first = submitted.start();
  const { epoch } = await submitted.location();
  submitted.start();
  await eventually(async () => (await submitted.readLog()).includes('still lives'));
  first.child.kill('SIGKILL');
  assert.ok((await submitted.location(Number(epoch))).epoch > epoch);
});

test('69: an older master that does not go away', async (t) => {
  const submitted = await Submitted.create(t, IMPATIENT);
  submitted.start();
  await submitted.location();
  const { code, stderr } = await submitted.start().end;
  assert.equal(code, 69);
  assert.match(stderr, /cannot become topology master within 500 ms: .*epoch 1 still lives/);
});

test('69: no topology', async (t) => {
  const submitted = await Submitted.create(t, IMPATIENT);
  await submitted.stateManager.delete(paths.packingPlan(TOPOLOGY.name));
  const { code, stderr } = await submitted.start().end;
  assert.equal(code, 69);
  assert.match(stderr, /there is no packingplans\/words/);
});

test('69: no state manager', async (t) => {
  const submitted = await Submitted.create(t, IMPATIENT);
  const { code, stderr } = await submitted.start({ flags: { state: 'file:///dev/null/state' } })
    .end;
  assert.equal(code, 69);
  assert.match(stderr, /heron-tmanager cannot go on: .*\/dev\/null/);
});

test('a topology that comes late is served', async (t) => {
  const submitted = await Submitted.create(t);
  const path = paths.topology(TOPOLOGY.name);
  const bytes = await submitted.stateManager.read(path);
  assert.ok(bytes);
  await submitted.stateManager.delete(path);
  submitted.start();
  await eventually(async () => (await submitted.readLog()).includes('trying again'));
  await submitted.stateManager.write(path, bytes);
  await submitted.location();
});

test('73: a port that is taken', async (t) => {
  const submitted = await Submitted.create(t);
  const taken = await tcpNetwork.listen({ host: HOST, port: 0 }, (stream) => stream.destroy());
  t.after(() => taken.close());
  for (const flag of Object.keys(PORTS)) {
    const { code, stderr } = await submitted.start({ flags: { [flag]: taken.address.port } }).end;
    assert.equal(code, 73);
    assert.match(stderr, new RegExp(`${HOST}:${taken.address.port}`));
  }
});

test('77: the name belongs to another submit', async (t) => {
  const submitted = await Submitted.create(t);
  const flags = { 'topology-id': topologyId('words-2') };
  const { code, stderr } = await submitted.start({ flags }).end;
  assert.equal(code, 77);
  assert.match(stderr, /words-2.*words-1/);
});

test('64: no token, or a flag that is missing', async (t) => {
  const submitted = await Submitted.create(t);
  const withoutToken = await submitted.start({ token: '' }).end;
  assert.equal(withoutToken.code, 64);
  assert.match(withoutToken.stderr, /HERON_TOKEN/);
  const withoutHost = await submitted.start({ flags: { host: '' } }).end;
  assert.equal(withoutHost.code, 64);
  assert.match(withoutHost.stderr, /--host is missing/);
});

test('O42: damaged records are flagged and do not end a master', async (t) => {
  const submitted = await Submitted.create(t, IMPATIENT);
  const packing = paths.packingPlan(TOPOLOGY.name);
  const bytes = await submitted.stateManager.read(packing);
  assert.ok(bytes);
  await submitted.stateManager.write(packing, Buffer.from('truncated'));
  await submitted.stateManager.write(paths.topology(TOPOLOGY.name), Buffer.from('truncated'));
  const { child, end } = submitted.start();
  // The time for which a master waits for what is missing is over then.
  await eventually(async () => (await submitted.readLog()).includes('waiting for the topology'));
  assert.equal(child.exitCode, null);
  await submitted.stateManager.write(packing, bytes);
  await submitted.location();
  assert.match(await submitted.readLog(), /topologies\/words is not fit to run; the definition/);
  child.kill('SIGTERM');
  assert.equal((await end).code, 0);
});

test('SIGTERM ends a master that waits for its records', async (t) => {
  const submitted = await Submitted.create(t, IMPATIENT);
  const path = paths.packingPlan(TOPOLOGY.name);
  await submitted.stateManager.write(path, Buffer.from('truncated'));
  const { child, end } = submitted.start();
  await eventually(async () => (await submitted.readLog()).includes('waiting for the topology'));
  child.kill('SIGTERM');
  assert.equal((await end).code, 0);
});

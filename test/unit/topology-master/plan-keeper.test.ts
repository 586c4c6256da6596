import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EngineError, environmentError } from '../../../src/base/errors.ts';
import { epoch } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import type { StreamManagerAddress } from '../../../src/model/physical-plan.ts';
import {
  MemoryStateManager,
  MemoryStateTree,
} from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { PlanKeeper } from '../../../src/topology-master/plan-keeper.ts';
import { expectedInstances } from '../../../src/topology-master/placement.ts';
import { StoredPhysicalPlan } from '../../../src/wire/messages.ts';
import {
  decodePhysicalPlan,
  type PhysicalPlanMessage,
  physicalPlanToMessage,
} from '../../../src/wire/physical-plan.ts';
import { encodeTopology, topologyToMessage } from '../../../src/wire/topology.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { aPackingPlan, anAddress } from '../../support/placements.ts';
import { settled } from '../../support/settled.ts';
import { aTopology } from '../../support/topologies.ts';

const TOPOLOGY = aTopology();
const PACKING = aPackingPlan([1, 1]);
const PATH = paths.physicalPlan(TOPOLOGY.name);

/** Where an incarnation runs. */
interface Machine {
  readonly clock?: ManualClock;
  readonly bootId?: string;
}

/** One incarnation of the master, as far as its plan goes. */
class Incarnation {
  readonly stateManager: MemoryStateManager;
  readonly clock: ManualClock;
  readonly distributed: PhysicalPlanMessage[] = [];
  readonly fenced: EngineError[] = [];
  readonly keeper: PlanKeeper;

  private constructor(
    stateManager: MemoryStateManager,
    masterEpoch: number,
    { clock = new ManualClock(), bootId = 'boot 1' }: Machine,
  ) {
    this.stateManager = stateManager;
    this.clock = clock;
    this.keeper = new PlanKeeper({
      stateManager,
      clock,
      // The start of the machine; each process counts from its own.
      machineTime: () => ({ bootId, ms: 1_000_000.25 + clock.now() }),
      random: createSeededRandom(1),
      logger: silentLogger,
      topologyName: TOPOLOGY.name,
      topologyId: TOPOLOGY.id,
      masterEpoch: epoch(masterEpoch),
      packing: {
        current: PACKING,
        adopt: async () => {},
        unadopt: async () => {},
        settle: async () => {},
        mark: async () => {},
      },
      drainLimitMs: 60_000,
      hasEnded: () => false,
      hasEndedBefore: () => false,
      isOver: () => false,
      lost: () => [],
      submitted: topologyToMessage(TOPOLOGY),
      onPlan: (plan) => this.distributed.push(plan),
      onFenced: (error) => this.fenced.push(error),
    });
  }

  static async start(tree: MemoryStateTree, machine: Machine = {}): Promise<Incarnation> {
    const stateManager = new MemoryStateManager(tree);
    await stateManager.write(paths.topology(TOPOLOGY.name), encodeTopology(TOPOLOGY));
    const masterEpoch = await stateManager.nextEpoch(TOPOLOGY.id);
    const incarnation = new Incarnation(stateManager, masterEpoch, machine);
    await incarnation.keeper.open();
    return incarnation;
  }

  /** Returns the epoch of the plan in the answer. */
  async register(address: StreamManagerAddress): Promise<number | undefined> {
    const instances = expectedInstances(PACKING).filter(
      (instance) => instance.streamManager === address.id,
    );
    const answer = this.keeper.register({ address, instances });
    await settled();
    return answer && Number(answer.epoch);
  }

  async stored() {
    const bytes = await this.stateManager.read(PATH);
    return bytes && decodePhysicalPlan(bytes);
  }

  get distributedEpochs(): number[] {
    return this.distributed.map((plan) => Number(plan.epoch));
  }
}

/** A master with the first plan in force; its epoch is 1, the plan's is 2. */
async function running(tree = new MemoryStateTree(), machine: Machine = {}): Promise<Incarnation> {
  const master = await Incarnation.start(tree, machine);
  await master.register(anAddress(1));
  await master.register(anAddress(2));
  return master;
}

test('the first plan is stored and distributed when all are there', async () => {
  const master = await Incarnation.start(new MemoryStateTree());
  assert.equal(await master.register(anAddress(1)), undefined);
  assert.equal(await master.stored(), undefined);
  assert.deepEqual(master.keeper.absent, ['stmgr-2']);
  await master.register(anAddress(2));
  assert.deepEqual(master.distributedEpochs, [2]);
  const stored = await master.stored();
  assert.deepEqual(stored, master.keeper.current);
  assert.equal(stored?.topology.state, 'RUNNING');
  assert.deepEqual(stored?.streamManagers, [anAddress(1), anAddress(2)]);
  assert.equal(master.keeper.history.firstPlanAtMs, master.clock.wallNow());
});

test('the time of the first plan moves back with the wall clock, and never forwards', async () => {
  const master = await running();
  const firstMs = master.keeper.history.firstPlanAtMs;
  master.clock.advance(500);
  assert.equal(master.keeper.history.firstPlanAtMs, firstMs);
  master.clock.stepWall(60_000);
  assert.equal(master.keeper.history.firstPlanAtMs, firstMs);
  master.clock.stepWall(-80_000);
  assert.equal(master.keeper.history.firstPlanAtMs, firstMs - 20_000);
});

test('every later incarnation knows the time of the first plan', async () => {
  const tree = new MemoryStateTree();
  const { keeper, clock } = await running(tree);
  const firstMs = keeper.history.firstPlanAtMs;
  clock.advance(40_000);
  // Stored in whole milliseconds, so that it may be a part of one earlier.
  const isAt = (ms: number, told: number): boolean => told <= ms && told > ms - 1;
  const second = await running(tree, { clock });
  assert.ok(isAt(firstMs, second.keeper.history.firstPlanAtMs));
  await second.keeper.setState('PAUSED');
  clock.stepWall(-60_000);
  const third = await Incarnation.start(tree, { clock });
  assert.ok(isAt(firstMs - 60_000, third.keeper.history.firstPlanAtMs));
});

test('the time of the first plan means nothing after a new start of the machine', async () => {
  const tree = new MemoryStateTree();
  const { clock } = await running(tree);
  const next = await running(tree, { clock, bootId: 'boot 2' });
  assert.equal(next.keeper.history.firstPlanAtMs, 0);
  await next.keeper.setState('PAUSED');
  assert.equal(next.keeper.history.firstPlanAtMs, 0);
});

test('a plan that does not say when the first one was made is taken as it is', async () => {
  const tree = new MemoryStateTree();
  const before = await running(tree);
  const { current } = before.keeper;
  assert.ok(current);
  const message = physicalPlanToMessage(current, topologyToMessage(TOPOLOGY));
  await before.stateManager.write(PATH, StoredPhysicalPlan.encode(message));
  const next = await Incarnation.start(tree, { clock: before.clock });
  assert.equal(next.keeper.history.firstPlanAtMs, 0);
});

/** As an executor writes it. */
function aReport(container: number, exits: Readonly<Record<string, number>>): Uint8Array {
  const processes = Object.entries(exits).map(([name, atMs]) => ({
    name,
    pid: 2,
    state: 'running',
    restarts: 1,
    startedAtMs: 0,
    lastExit: { code: 1, signal: null, atMs, reason: 'ended', lastLines: [] },
  }));
  const report = { containerId: container, host: 'h', pid: 1, startedAtMs: 0, processes };
  return Buffer.from(JSON.stringify(report));
}

test('what had ended before the first plan is known to every later incarnation', async () => {
  const tree = new MemoryStateTree();
  const first = await Incarnation.start(tree);
  const folder = paths.containers(TOPOLOGY.name);
  await first.stateManager.write(`${folder}/1`, aReport(1, { 'stmgr-1': 5, 'metricsmgr-1': 6 }));
  await first.stateManager.write(`${folder}/2`, Buffer.from('half a rep'));
  await first.register(anAddress(1));
  await first.register(anAddress(2));
  const early = [{ process: 'stmgr-1', atMs: 5 }];
  assert.deepEqual(first.keeper.history.earlyEnds, early);

  await first.stateManager.write(`${folder}/2`, aReport(2, { 'stmgr-2': 9 }));
  const second = await Incarnation.start(tree);
  assert.deepEqual(second.keeper.history.earlyEnds, early);
  await second.register(anAddress(1));
  await second.register(anAddress(2, { pid: 9 }));
  await second.keeper.setState('PAUSED');
  assert.deepEqual((await Incarnation.start(tree)).keeper.history.earlyEnds, early);
});

test('a plan that takes the place of one that cannot be read is not the first', async () => {
  const tree = new MemoryStateTree();
  const master = await Incarnation.start(tree);
  const folder = paths.containers(TOPOLOGY.name);
  await master.stateManager.write(`${folder}/1`, aReport(1, { 'stmgr-1': 5 }));
  await master.stateManager.write(PATH, Buffer.from('damaged'));
  const next = await running(tree);
  assert.deepEqual(next.keeper.history.earlyEnds, []);
  assert.equal(next.keeper.history.firstPlanAtMs, 0);
});

test('registering again as before changes nothing and gives the plan at once', async () => {
  const master = await running();
  master.keeper.unregister(anAddress(1).id);
  assert.equal(master.keeper.planBytes(), undefined);
  assert.equal(await master.register(anAddress(1)), 2);
  assert.deepEqual(master.distributedEpochs, [2]);
  assert.deepEqual(master.keeper.planBytes(), await master.stateManager.read(PATH));
});

test('a restarted master moves nothing', async () => {
  const tree = new MemoryStateTree();
  const old = await running(tree);
  const before = await old.stored();
  await old.keeper.setState('PAUSED');
  const next = await Incarnation.start(tree);
  assert.equal(next.keeper.state, 'PAUSED');
  assert.equal(await next.register(anAddress(2)), 3);
  assert.equal(await next.register(anAddress(1)), 3);
  assert.deepEqual(next.distributedEpochs, []);
  const after = await next.stored();
  assert.deepEqual(after?.streamManagers, before?.streamManagers);
  assert.deepEqual(after?.instances, before?.instances);
});

test('a changed address makes a new plan with a greater epoch', async () => {
  const master = await running();
  const moved = anAddress(2, { dataPort: 9, pid: 9 });
  assert.equal(await master.register(moved), undefined);
  assert.deepEqual(master.distributedEpochs, [2, 3]);
  assert.deepEqual((await master.stored())?.streamManagers, [anAddress(1), moved]);
  assert.deepEqual(
    master.keeper.history.replaced.map((incident) => incident.process),
    ['stmgr-2'],
  );
});

test('a stream manager that is another process now is noted before that is stored', async () => {
  const master = await running();
  master.stateManager.nextEpoch = () =>
    Promise.reject(environmentError('STATE_UNAVAILABLE', 'away', { retryable: true }));
  await master.register(anAddress(1));
  const replaced = () => master.keeper.history.replaced.map((incident) => incident.process);
  assert.deepEqual(replaced(), []);
  await master.register(anAddress(2, { pid: 9 }));
  assert.deepEqual(replaced(), ['stmgr-2']);
  await master.keeper.close();
});

test('a state is stored before it is distributed, and the same again is nothing', async () => {
  const master = await running();
  await master.keeper.setState('PAUSED');
  assert.equal((await master.stored())?.topology.state, 'PAUSED');
  assert.deepEqual(master.distributedEpochs, [2, 3]);
  await master.keeper.setState('PAUSED');
  assert.deepEqual(master.distributedEpochs, [2, 3]);
  await master.keeper.setState('RUNNING');
  assert.equal(master.keeper.state, 'RUNNING');
});

test('a new address does not wake a paused topology', async () => {
  const master = await running();
  await master.keeper.setState('PAUSED');
  await master.register(anAddress(2, { pid: 9 }));
  assert.deepEqual(master.distributedEpochs, [2, 3, 4]);
  assert.equal((await master.stored())?.topology.state, 'PAUSED');
});

test('a plan that cannot be stored is not distributed, and is tried again', async () => {
  const master = await running();
  const replace = master.stateManager.replace.bind(master.stateManager);
  const refuse = () => Promise.reject(environmentError('STATE_UNAVAILABLE', 'away'));
  master.stateManager.replace = refuse;
  await master.register(anAddress(2, { pid: 9 }));
  await assert.rejects(master.keeper.setState('PAUSED'), { code: 'STATE_UNAVAILABLE' });
  assert.deepEqual(master.distributedEpochs, [2]);
  assert.equal(master.keeper.state, 'RUNNING');
  master.stateManager.replace = replace;
  master.clock.advance(5_000);
  await settled();
  assert.equal(master.distributed.length, 2);
  assert.deepEqual(await master.stored(), master.keeper.current);
});

test('a write whose answer was lost counts, at once or later', async () => {
  const master = await running();
  const replace = master.stateManager.replace.bind(master.stateManager);
  master.stateManager.replace = async (...args) => {
    master.stateManager.replace = replace;
    await replace(...args);
    throw environmentError('STATE_UNAVAILABLE', 'the connection broke');
  };
  await assert.rejects(master.keeper.setState('PAUSED'));
  await master.keeper.setState('PAUSED');
  assert.equal((await master.stored())?.topology.state, 'PAUSED');
  assert.deepEqual(await master.stored(), master.keeper.current);
  assert.deepEqual(master.fenced, []);
});

test('a master that slept through its successor’s plan ends', async () => {
  const tree = new MemoryStateTree();
  const old = await running(tree);
  const next = await Incarnation.start(tree);
  await next.register(anAddress(1, { pid: 9 }));
  const stored = await next.stored();
  await assert.rejects(old.keeper.setState('PAUSED'), { code: 'STALE_EPOCH' });
  assert.deepEqual(
    old.fenced.map((error) => error.code),
    ['STALE_EPOCH'],
  );
  assert.deepEqual(await next.stored(), stored);
});

test('a vanished plan is stored again, unless the topology is being removed', async () => {
  const master = await running();
  await master.stateManager.delete(PATH);
  await assert.rejects(master.keeper.setState('PAUSED'), { code: 'STATE_CONFLICT' });
  await master.keeper.setState('PAUSED');
  assert.equal((await master.stored())?.topology.state, 'PAUSED');
  await master.stateManager.delete(PATH);
  await master.stateManager.delete(paths.topology(TOPOLOGY.name));
  await assert.rejects(master.keeper.setState('RUNNING'), { code: 'TOPOLOGY_NOT_FOUND' });
  assert.equal(await master.stored(), undefined);
});

test('a plan that cannot be read is made again from registrations', async () => {
  const tree = new MemoryStateTree();
  await new MemoryStateManager(tree).write(PATH, Buffer.from('truncated'));
  const master = await running(tree);
  assert.deepEqual(await master.stored(), master.keeper.current);
  assert.equal(master.keeper.state, 'RUNNING');
});

test('a plan whose topology is not fit to run is made again from registrations', async () => {
  const tree = new MemoryStateTree();
  const before = await running(tree);
  const unfit = { ...TOPOLOGY, config: new Map([['topology.stmgrs', 'x']]) };
  const { current } = before.keeper;
  assert.ok(current);
  const message = physicalPlanToMessage(current, topologyToMessage(unfit));
  await before.stateManager.write(PATH, StoredPhysicalPlan.encode(message));
  const master = await running(tree);
  assert.deepEqual((await master.stored())?.topology, TOPOLOGY);
});

test('after close no change begins', async () => {
  const master = await running();
  await master.keeper.close();
  await assert.rejects(master.keeper.setState('PAUSED'), { code: 'CONNECTION_CLOSED' });
  assert.equal(master.clock.pendingTimers, 0);
});

test('spouts that have ended are not asked to emit or to rest again', async () => {
  const master = await running();
  await master.keeper.setState('KILLED');
  await master.keeper.setState('KILLED');
  await assert.rejects(master.keeper.setState('RUNNING'), { code: 'TOPOLOGY_NOT_READY' });
  assert.equal((await master.stored())?.topology.state, 'KILLED');
});

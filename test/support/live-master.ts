import assert from 'node:assert/strict';
import { type EngineError, environmentError } from '../../src/base/errors.ts';
import { epoch, type StreamManagerId, taskId } from '../../src/base/ids.ts';
import type { Logger } from '../../src/base/logger.ts';
import { createSeededRandom } from '../../src/base/random.ts';
import type { Incident } from '../../src/model/completion.ts';
import type { PackingPlan } from '../../src/model/packing-plan.ts';
import type { StreamManagerAddress } from '../../src/model/physical-plan.ts';
import {
  MemoryStateManager,
  MemoryStateTree,
} from '../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../src/state-manager/paths.ts';
import { PackingKeeper } from '../../src/topology-master/packing-keeper.ts';
import { expectedInstances } from '../../src/topology-master/placement.ts';
import { PlanKeeper } from '../../src/topology-master/plan-keeper.ts';
import { readTopologyFacts } from '../../src/topology-master/topology-facts.ts';
import { decodePackingPlan, encodePackingPlan } from '../../src/wire/packing-plan.ts';
import { decodePhysicalPlan, type PhysicalPlanMessage } from '../../src/wire/physical-plan.ts';
import { encodeTopology } from '../../src/wire/topology.ts';
import { ManualClock } from './manual-clock.ts';
import { anAddress, aPlacement } from './placements.ts';
import { settled } from './settled.ts';
import { aSpout, aTopology } from './topologies.ts';

/** Its one component is that of test/support/placements.ts. */
export const TOPOLOGY = aTopology([aSpout('word', { parallelism: 2 })]);

const PACKING = paths.packingPlan(TOPOLOGY.name);

/** What the submit stores. */
export async function submit(tree: MemoryStateTree, packing: PackingPlan): Promise<void> {
  const stateManager = new MemoryStateManager(tree);
  await stateManager.write(paths.topology(TOPOLOGY.name), encodeTopology(TOPOLOGY));
  await stateManager.write(PACKING, encodePackingPlan(packing));
}

/** As `heron update` does: a fresh epoch, and one write. */
export async function update(tree: MemoryStateTree, packing: PackingPlan): Promise<void> {
  const stateManager = new MemoryStateManager(tree);
  const fresh = await stateManager.nextEpoch(TOPOLOGY.id);
  await stateManager.write(PACKING, encodePackingPlan({ ...packing, epoch: fresh }));
  await settled();
}

export interface LiveMasterOptions {
  readonly clock?: ManualClock;
  readonly lost?: readonly Incident[];
  /** Components whose input has ended. */
  readonly ended?: ReadonlySet<string>;
}

/** One incarnation of the master, as far as its plans go, with stream managers driven by hand. */
export class LiveMaster {
  readonly stateManager: MemoryStateManager;
  readonly clock: ManualClock;
  readonly logged: string[] = [];
  readonly distributed: PhysicalPlanMessage[] = [];
  readonly fenced: EngineError[] = [];
  readonly packing: PackingKeeper;
  readonly plans: PlanKeeper;

  private constructor(
    tree: MemoryStateTree,
    masterEpoch: number,
    facts: Awaited<ReturnType<typeof readTopologyFacts>>,
    { clock = new ManualClock(), lost = [], ended = new Set() }: LiveMasterOptions,
  ) {
    const stateManager = new MemoryStateManager(tree);
    this.stateManager = stateManager;
    this.clock = clock;
    const options = {
      stateManager,
      clock,
      machineTime: () => ({ bootId: 'boot 1', ms: 1_000 + clock.now() }),
      random: createSeededRandom(1),
      logger: this.#logger(),
      topologyName: TOPOLOGY.name,
      topologyId: TOPOLOGY.id,
    };
    this.packing = new PackingKeeper({
      ...options,
      topology: facts.topology,
      initial: facts.packing,
      initialBytes: facts.packingBytes,
      onChange: () => this.plans.reconsider(),
    });
    this.plans = new PlanKeeper({
      ...options,
      masterEpoch: epoch(masterEpoch),
      packing: this.packing,
      drainLimitMs: 60_000,
      hasEnded: (component) => ended.has(component),
      hasEndedBefore: (_, component) => ended.has(component),
      isOver: () => false,
      lost: () => lost,
      submitted: facts.message,
      onPlan: (plan) => this.distributed.push(plan),
      onFenced: (error) => this.fenced.push(error),
    });
  }

  static async start(tree: MemoryStateTree, options: LiveMasterOptions = {}): Promise<LiveMaster> {
    const stateManager = new MemoryStateManager(tree);
    const masterEpoch = await stateManager.nextEpoch(TOPOLOGY.id);
    const { name: topologyName, id: topologyId } = TOPOLOGY;
    const logger = silent();
    const facts = await readTopologyFacts({ stateManager, topologyName, topologyId, logger });
    const master = new LiveMaster(tree, masterEpoch, facts, options);
    await master.plans.open();
    master.packing.open();
    await settled();
    return master;
  }

  /** As after kill -9: nothing of it is done any more. */
  async die(): Promise<void> {
    this.packing.close();
    await this.plans.close();
    await this.stateManager.close();
  }

  /** The stream managers of these containers serve what a packing plan says. */
  async serve(packing: PackingPlan, ...addresses: readonly StreamManagerAddress[]): Promise<void> {
    const planned = expectedInstances(packing);
    for (const address of addresses) {
      const instances = planned.filter(({ streamManager }) => streamManager === address.id);
      this.plans.register({ address, instances });
    }
    await settled();
  }

  async serveAll(packing: PackingPlan): Promise<void> {
    await this.serve(packing, ...packing.containers.map(({ id }) => anAddress(id)));
  }

  async retire(container: number, ...tasks: readonly number[]): Promise<void> {
    const retired = tasks.map(taskId);
    this.plans.note(anAddress(container).id, { retired, planEpoch: epoch(0) });
    await settled();
  }

  /** All stream managers of the plan in force say that they work by it. */
  async adopt(ids: readonly StreamManagerId[] = this.streamManagers): Promise<void> {
    const planEpoch = this.plans.current?.epoch ?? epoch(0);
    for (const id of ids) this.plans.note(id, { retired: [], planEpoch });
    await settled();
  }

  async wait(ms: number): Promise<void> {
    this.clock.advance(ms);
    await settled();
  }

  get streamManagers(): readonly StreamManagerId[] {
    return (this.plans.current?.streamManagers ?? []).map(({ id }) => id);
  }

  /** Tasks of the plan in force; `3-` is retiring. */
  get tasks(): readonly string[] {
    const instances = this.plans.current?.instances ?? [];
    return instances.map(({ task, isRetiring }) => `${task}${isRetiring === true ? '-' : ''}`);
  }

  async storedTasks(): Promise<readonly string[]> {
    const { containers } = await this.storedPacking();
    return containers.flatMap(({ instances }) =>
      instances.map(({ task, isRetiring }) => `${task}${isRetiring === true ? '-' : ''}`),
    );
  }

  async storedPacking(): Promise<PackingPlan> {
    const bytes = await this.stateManager.read(PACKING);
    return decodePackingPlan(bytes ?? assert.fail('there is no packing plan'));
  }

  async storedPlan() {
    const bytes = await this.stateManager.read(paths.physicalPlan(TOPOLOGY.name));
    return decodePhysicalPlan(bytes ?? assert.fail('there is no physical plan'));
  }

  async writePacking(bytes: Uint8Array): Promise<void> {
    await this.stateManager.write(PACKING, bytes);
    await settled();
  }

  /** The next `replace` is refused as if the store were away; with `isDone`, after it was done. */
  breakNextReplace(isDone: boolean): void {
    const replace = this.stateManager.replace.bind(this.stateManager);
    this.stateManager.replace = async (...given) => {
      this.stateManager.replace = replace;
      if (isDone) await replace(...given);
      throw environmentError('STATE_UNAVAILABLE', 'the connection broke', { retryable: true });
    };
  }

  #logger(): Logger {
    const note = (message: string): void => void this.logged.push(message);
    return {
      debug: note,
      info: note,
      warn: note,
      error: note,
      child: () => assert.fail('one logger'),
    };
  }
}

function silent(): Logger {
  return { debug() {}, info() {}, warn() {}, error() {}, child: () => silent() };
}

const BASE = aPlacement({ 1: ['1'], 2: ['2'] });
const MOVE = aPlacement({ 1: ['1', '3'], 2: ['2-'] });

/**
 * Packing plans to begin with: two tasks; an update in which task 2 goes, and with it container 2,
 * while task 3 comes into container 1; and one in which task 3 comes in a new container.
 */
export const PLACEMENTS = {
  base: BASE,
  move: MOVE,
  moved: aPlacement({ 1: ['1', '3'] }),
  grown: aPlacement({ 1: ['1'], 2: ['2'], 3: ['3'] }),
} as const;

/** A running topology of two tasks. */
export async function aRunningMaster(
  tree: MemoryStateTree = new MemoryStateTree(),
  options: LiveMasterOptions = {},
): Promise<LiveMaster> {
  await submit(tree, BASE);
  const master = await LiveMaster.start(tree, options);
  await master.serveAll(BASE);
  assert.deepEqual(master.tasks, ['1', '2']);
  return master;
}

/** One in which task 2 retires. */
export async function aRetiringMaster(
  tree: MemoryStateTree = new MemoryStateTree(),
  options: LiveMasterOptions = {},
): Promise<LiveMaster> {
  const master = await aRunningMaster(tree, options);
  await update(tree, MOVE);
  await master.serveAll(MOVE);
  await master.adopt(); // What is new begins.
  assert.deepEqual(master.tasks, ['1', '2-', '3']);
  return master;
}

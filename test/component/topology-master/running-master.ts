import type { TestContext } from 'node:test';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import type { EngineError } from '../../../src/base/errors.ts';
import type { StreamManagerId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { systemMachineTime } from '../../../src/base/machine-time.ts';
import { createSystemRandom } from '../../../src/base/random.ts';
import type { LogicalTopology } from '../../../src/model/logical-topology.ts';
import type { PackingPlan } from '../../../src/model/packing-plan.ts';
import type { InstanceAddress } from '../../../src/model/physical-plan.ts';
import { Settings } from '../../../src/model/settings.ts';
import { listenHttp } from '../../../src/net/http-server.ts';
import { tcpNetwork } from '../../../src/net/tcp-network.ts';
import { systemResourceUse } from '../../../src/process-start/system-resource-use.ts';
import {
  MemoryStateManager,
  MemoryStateTree,
} from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { expectedInstances } from '../../../src/topology-master/placement.ts';
import { TopologyMaster } from '../../../src/topology-master/topology-master.ts';
import { QueryRegistrations } from '../../../src/wire/messages.ts';
import { encodePackingPlan } from '../../../src/wire/packing-plan.ts';
import { decodePhysicalPlan } from '../../../src/wire/physical-plan.ts';
import { encodeTopology } from '../../../src/wire/topology.ts';
import { aPackingPlan, anAddress } from '../../support/placements.ts';
import { ScriptedStreamManager } from '../../support/scripted-stream-manager.ts';
import { aSpout, aTopology } from '../../support/topologies.ts';

export const HOST = '127.0.0.1';
export const TOKEN = 'secret';
/** Tasks 1 and 2 in container 1, task 3 in container 2. */
export const PACKING: PackingPlan = aPackingPlan([2, 1]);
export const TOPOLOGY: LogicalTopology = aTopology([aSpout('word', { parallelism: 3 })]);

export function instancesOf(id: StreamManagerId): readonly InstanceAddress[] {
  return expectedInstances(PACKING).filter((instance) => instance.streamManager === id);
}

export interface MasterFixture {
  readonly tree?: MemoryStateTree;
  readonly clock?: Clock;
  readonly topology?: LogicalTopology;
  readonly packing?: PackingPlan;
  /** What lies in the container's folder. */
  readonly definition?: Uint8Array;
  /** In place of the encoded topology and packing plan: nodes as another engine wrote them. */
  readonly nodes?: { readonly topology: Uint8Array; readonly packing: Uint8Array };
  /** True when the tree holds what is needed, as an earlier master has left it. */
  readonly isSubmitted?: boolean;
}

/** A real master on loopback with a state manager in memory. */
export class RunningMaster {
  readonly master: TopologyMaster;
  readonly stateManager: MemoryStateManager;
  readonly failures: EngineError[] = [];
  readonly #t: TestContext;
  readonly #topology: LogicalTopology;

  static async start(t: TestContext, fixture: MasterFixture = {}): Promise<RunningMaster> {
    const running = await RunningMaster.prepare(t, fixture);
    await running.master.start();
    return running;
  }

  /** Everything but the start. */
  static async prepare(t: TestContext, fixture: MasterFixture = {}): Promise<RunningMaster> {
    const { topology = TOPOLOGY, packing = PACKING, tree = new MemoryStateTree() } = fixture;
    const stateManager = new MemoryStateManager(tree);
    const nodes = fixture.nodes ?? {
      topology: encodeTopology(topology),
      packing: encodePackingPlan(packing),
    };
    if (fixture.isSubmitted !== true) {
      await stateManager.write(paths.topology(topology.name), nodes.topology);
      await stateManager.write(paths.packingPlan(topology.name), nodes.packing);
    }
    const running = new RunningMaster(t, stateManager, topology, fixture);
    t.after(() => running.master.close());
    return running;
  }

  private constructor(
    t: TestContext,
    stateManager: MemoryStateManager,
    topology: LogicalTopology,
    { clock = systemClock, definition }: MasterFixture,
  ) {
    this.#t = t;
    this.#topology = topology;
    this.stateManager = stateManager;
    this.master = new TopologyMaster({
      topologyName: topology.name,
      topologyId: topology.id,
      token: TOKEN,
      host: HOST,
      serverPort: 0,
      controllerPort: 0,
      statsPort: 0,
      metricsManagerPort: 1, // Nobody listens there; nothing waits for it.
      settings: new Settings(topology.config),
      ...(definition && { definition }),
      stateManager,
      network: tcpNetwork,
      listenHttp,
      resourceUse: systemResourceUse,
      clock,
      machineTime: systemMachineTime,
      random: createSystemRandom(),
      logger: silentLogger,
      onFailure: (error) => this.failures.push(error),
    });
  }

  connect(): Promise<ScriptedStreamManager> {
    return ScriptedStreamManager.connect(this.#t, { host: HOST, port: this.master.ports.server });
  }

  /** A connected and registered stream manager of a container. */
  async registered(container: number): Promise<ScriptedStreamManager> {
    const manager = await this.connect();
    const address = anAddress(container);
    await manager.register({ address, instances: instancesOf(address.id) });
    return manager;
  }

  async storedPlan() {
    const bytes = await this.stateManager.read(paths.physicalPlan(this.#topology.name));
    return bytes && decodePhysicalPlan(bytes);
  }

  /** Who is missing, as the master tells the Tracker. */
  async absent(): Promise<readonly string[]> {
    const response = await this.get('stats', '/stmgrsregistrationsummary', { method: 'POST' });
    const body = new Uint8Array(await response.arrayBuffer());
    return QueryRegistrations.response.decode(body).absentStmgrs;
  }

  get(port: 'controller' | 'stats', target: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`http://${HOST}:${this.master.ports[port]}${target}`, init);
  }
}

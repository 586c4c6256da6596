import type { TestContext } from 'node:test';
import { assertDefined } from '../../src/base/assert.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { EngineError } from '../../src/base/errors.ts';
import type { StreamManagerId } from '../../src/base/ids.ts';
import type { Logger } from '../../src/base/logger.ts';
import { createSystemRandom } from '../../src/base/random.ts';
import { MetricsRegistry } from '../../src/metrics/metrics-registry.ts';
import type { ConfigMap } from '../../src/model/logical-topology.ts';
import type { PhysicalPlan } from '../../src/model/physical-plan.ts';
import { Settings } from '../../src/model/settings.ts';
import { tcpNetwork } from '../../src/net/tcp-network.ts';
import { encodePackingPlan } from '../../src/wire/packing-plan.ts';
import { paths } from '../../src/state-manager/paths.ts';
import { MemoryStateManager } from '../../src/state-manager/memory/memory-state-manager.ts';
import { StreamManager } from '../../src/stream-manager/stream-manager.ts';
import { type TopologyMessage, topologyToMessage } from '../../src/wire/topology.ts';
import { type RegistrationFields, ScriptedInstance } from './scripted-instance.ts';
import { ScriptedTopologyMaster } from './scripted-topology-master.ts';
import { packingOf } from './updated-plans.ts';

export const TOKEN = 'the token of the test';
export const ENGINE_VERSION = '9.9.9';

/** Quick enough for tests; everything else as shipped. */
const QUICK: ConfigMap = new Map([
  ['heron.streammgr.client.reconnect.interval.ms', '20'],
  ['heron.streammgr.client.reconnect.tmanager.interval.ms', '20'],
  ['heron.streammgr.tmanager.heartbeat.interval.ms', '50'],
]);

export interface RunningOptions {
  /** For foreign topologies, whose message holds more than the plan's topology. */
  readonly topology?: TopologyMessage;
  readonly config?: ConfigMap;
  /** For tests that hold the registrations back. */
  readonly withoutMaster?: boolean;
}

export interface RunningStreamManager {
  readonly manager: StreamManager;
  readonly metrics: MetricsRegistry;
  readonly failures: EngineError[];
  /** Messages of its log, without their fields. */
  readonly log: string[];
  /** Counters since the start of the test; `collect` hands out each count once. */
  count(name: string): number;
  stop(): Promise<void>;
}

/**
 * The stream managers of a plan over real sockets, with a scripted master and scripted instances.
 */
export class RunningStreamManagers {
  readonly stateManager = new MemoryStateManager();
  /** Whose stream managers and instances are started; an update puts another one in its place. */
  plan: PhysicalPlan;
  readonly #t: TestContext;
  readonly #topology: TopologyMessage;
  readonly #options: RunningOptions;
  readonly #managers = new Map<StreamManagerId, RunningStreamManager>();
  #master: ScriptedTopologyMaster | undefined;

  static async start(
    t: TestContext,
    plan: PhysicalPlan,
    options: RunningOptions = {},
  ): Promise<RunningStreamManagers> {
    const running = new RunningStreamManagers(t, plan, options);
    if (options.withoutMaster !== true) await running.startMaster();
    for (const { id } of plan.streamManagers) await running.startManager(id);
    return running;
  }

  private constructor(t: TestContext, plan: PhysicalPlan, options: RunningOptions) {
    this.#t = t;
    this.plan = plan;
    this.#options = options;
    this.#topology = options.topology ?? topologyToMessage(plan.topology);
  }

  get master(): ScriptedTopologyMaster {
    return assertDefined(this.#master, 'the test has started a master');
  }

  async startMaster(fields: Partial<Pick<ScriptedTopologyMaster, 'masterEpoch'>> = {}) {
    this.#master = await ScriptedTopologyMaster.start(this.#t, {
      stateManager: this.stateManager,
      plan: this.plan,
      topology: this.#topology,
      ...fields,
    });
    return this.#master;
  }

  async startManager(
    id: StreamManagerId,
    ports: { readonly dataPort?: number; readonly localDataPort?: number } = {},
  ): Promise<RunningStreamManager> {
    const { topology } = this.plan;
    const metrics = new MetricsRegistry();
    const failures: EngineError[] = [];
    const log: string[] = [];
    const manager = new StreamManager({
      id,
      own: {
        topologyName: topology.name,
        topologyId: topology.id,
        token: TOKEN,
        engineVersion: ENGINE_VERSION,
      },
      instanceIds: this.plan.instances
        .filter(({ streamManager }) => streamManager === id)
        .map((instance) => instance.id),
      definition: this.#topology,
      settings: new Settings(QUICK, this.#options.config ?? new Map()),
      host: '127.0.0.1',
      dataPort: ports.dataPort ?? 0,
      localDataPort: ports.localDataPort ?? 0,
      shellPort: 0,
      workingDirectory: '/',
      pid: 1,
      stateManager: this.stateManager,
      network: tcpNetwork,
      clock: systemClock,
      random: createSystemRandom(),
      logger: loggerInto(log),
      metrics,
      onFailure: (error) => failures.push(error),
    });
    await manager.start();
    const running: RunningStreamManager = {
      manager,
      metrics,
      failures,
      log,
      count: (name) => metrics.counter(name).value,
      stop: () => manager.close(),
    };
    this.#managers.set(id, running);
    this.#t.after(() => manager.close());
    return running;
  }

  /** Stores the packing plan of a physical one: its instances may register. */
  async storePacking(plan: PhysicalPlan): Promise<void> {
    const bytes = encodePackingPlan(packingOf(plan));
    await this.stateManager.write(paths.packingPlan(plan.topology.name), bytes);
  }

  /** The master distributes a newer plan. */
  publish(plan: PhysicalPlan): void {
    this.master.plan = plan;
    this.master.publish();
  }

  /** The stream manager of a container. */
  managerOf(container: number): RunningStreamManager {
    const manager = this.#managers.get(`stmgr-${container}` as StreamManagerId);
    return assertDefined(manager, `container ${container} has a stream manager`);
  }

  /** Connects and registers the instance of a task; one of this engine when it has a window. */
  async instance(
    task: number,
    {
      creditBytes = 1_000_000,
      beats = false,
    }: Pick<RegistrationFields, 'creditBytes' | 'beats'> = {},
  ): Promise<ScriptedInstance> {
    const address = assertDefined(
      this.plan.instances.find((planned) => planned.task === task),
      `task ${task} is in the plan`,
    );
    const manager = assertDefined(this.#managers.get(address.streamManager), 'it was started');
    const instance = await ScriptedInstance.connect(this.#t, manager.manager.ports.localData);
    const { name, id } = this.plan.topology;
    const component = this.plan.topology.components.find((one) => one.name === address.component);
    const isForeign = component?.language !== 'typescript';
    await instance.register(address, {
      topologyName: name,
      topologyId: id,
      beats,
      ...(!isForeign && { token: TOKEN, engineVersion: ENGINE_VERSION, creditBytes }),
    });
    return instance;
  }

  /** All instances of the plan, registered and with the plan, by task. */
  async instances(): Promise<ReadonlyMap<number, ScriptedInstance>> {
    const all = new Map<number, ScriptedInstance>();
    for (const { task } of this.plan.instances) all.set(task, await this.instance(task));
    for (const instance of all.values()) await instance.plan();
    return all;
  }
}

function loggerInto(log: string[]): Logger {
  const write = (message: string): void => void log.push(message);
  const logger: Logger = {
    debug: write,
    info: write,
    warn: write,
    error: write,
    child: () => logger,
  };
  return logger;
}

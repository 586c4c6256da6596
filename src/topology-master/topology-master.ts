import { assertDefined } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { EngineError, hasCode } from '../base/errors.ts';
import type { Epoch, TopologyId, TopologyName } from '../base/ids.ts';
import type { Logger, LogLevel } from '../base/logger.ts';
import type { MachineTime } from '../base/machine-time.ts';
import type { Random } from '../base/random.ts';
import { retry } from '../base/retry.ts';
import { BYTES_PER_MB } from '../base/units.ts';
import { ENGINE_VERSION } from '../base/version.ts';
import { isForeignTopology } from '../model/foreign-topology.ts';
import type { ResourceUse } from '../metrics/process-metrics.ts';
import { MetricsStore } from '../metrics-store/metrics-store.ts';
import { logLevelOf } from '../model/log-level.ts';
import type { PhysicalPlan } from '../model/physical-plan.ts';
import type { Settings } from '../model/settings.ts';
import type { Network } from '../net/network.ts';
import { PacketServer } from '../net/server.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import { TopologyMasterLocation } from '../wire/messages.ts';
import { CompletionKeeper } from './completion-keeper.ts';
import { controlHandler } from './control-port.ts';
import { DrainKeeper } from './drain-keeper.ts';
import type { HttpHandler, HttpServer, ListenHttp } from '../net/http-rules.ts';
import { LocationKeeper } from './location-keeper.ts';
import { createMasterPublisher } from './master-publisher.ts';
import { PackingKeeper } from './packing-keeper.ts';
import { PlanKeeper, type PlanKeeperOptions } from './plan-keeper.ts';
import { masterStatsHandler } from './stats-port.ts';
import { StreamManagerServer } from './stream-manager-server.ts';
import { readTopologyFacts, type TopologyFacts } from './topology-facts.ts';

/*
  One incarnation of a topology's master, put together. It comes up in this order:

  T1. It takes an epoch above that of every master before it.
  T2. It reads what the submit has stored; what is missing may still come, and what is damaged is
      replaced by what else is known or waited for (topology-facts.ts).
  T3. It listens, and holds back whoever connects.
  T4. It gets the location node, alone from then on.
  T5. It takes over the plan that is in force, and serves.

  Containers and their processes are the executors' business: this process only says who is where.
*/

const MS_PER_SECOND = 1_000;

/** Control packets are small; Heron's limit for both HTTP ports. */
const HTTP_BODY_BYTES_MAX = 1024 * 1024;

export interface TopologyMasterOptions {
  readonly topologyName: TopologyName;
  readonly topologyId: TopologyId;
  readonly token: string;
  readonly host: string;
  readonly serverPort: number;
  readonly controllerPort: number;
  readonly statsPort: number;
  readonly metricsManagerPort: number;
  readonly settings: Settings;
  /** The topology as it lies in the container's folder. */
  readonly definition?: Uint8Array;
  readonly stateManager: StateManager;
  readonly network: Network;
  readonly listenHttp: ListenHttp;
  readonly resourceUse: () => ResourceUse;
  readonly clock: Clock;
  readonly machineTime: () => MachineTime;
  readonly random: Random;
  readonly logger: Logger;
  /** Of the logger above; by each plan. */
  readonly setLogLevel?: (level: LogLevel) => void;
  /** This incarnation has to end. May be called more than once. */
  readonly onFailure: (error: EngineError) => void;
}

interface Keepers {
  readonly plans: PlanKeeper;
  readonly packing: PackingKeeper;
  readonly completion: CompletionKeeper;
}

interface Ports {
  readonly server: PacketServer;
  readonly control: HttpServer;
  readonly stats: HttpServer;
}

export class TopologyMaster {
  readonly #options: TopologyMasterOptions;
  readonly #statistics: MetricsStore;
  /** What has to be closed, in this order. */
  readonly #closers: (() => void | Promise<void>)[] = [];
  #epoch: Epoch | undefined;
  #isClosed = false;
  #ports: Ports | undefined;
  #plans: PlanKeeper | undefined;

  constructor(options: TopologyMasterOptions) {
    this.#options = options;
    this.#statistics = new MetricsStore(options.clock);
  }

  get epoch(): Epoch | undefined {
    return this.#epoch;
  }

  /** The plan in force; undefined before the first, and before the stored one is read. */
  get plan(): PhysicalPlan | undefined {
    return this.#plans?.current;
  }

  /** Where it listens; the options may have left the choice to the operating system. */
  get ports() {
    const { server, control, stats } = assertDefined(this.#ports, 'the master listens');
    return { server: server.address.port, controller: control.port, stats: stats.port };
  }

  /**
   * Resolves when the master serves.
   *
   * @throws EngineError when it cannot: see topology-master-main.ts for what each code means.
   */
  async start(): Promise<void> {
    const { stateManager, topologyId } = this.#options;
    const epoch = await this.#retry('take an epoch', () => stateManager.nextEpoch(topologyId));
    this.#epoch = epoch;
    const facts = await this.#readFacts();
    const packing: PackingKeeper = this.#createPackingKeeper(facts, () => plans.reconsider());
    const completion: CompletionKeeper = this.#createCompletionKeeper(facts, () => plans);
    const plans: PlanKeeper = this.#createPlanKeeper(epoch, {
      packing,
      submitted: facts.message,
      hasEnded: (component) => completion.hasEnded(component),
      hasEndedBefore: (planEpoch, component) => completion.hasEndedBefore(planEpoch, component),
      isOver: () => completion.isOver,
      lost: () => completion.lost,
      onPlan: (plan) => {
        this.#heedLogLevel();
        completion.followPlan();
        peers.distribute(plan);
      },
    });
    this.#plans = plans;
    const peers = this.#createPeers(epoch, facts, { plans, packing, completion });
    await this.#listen(facts, plans, peers);
    await this.#claimLocation(epoch);
    await this.#retry('read the physical plan', () => plans.open());
    this.#heedLogLevel();
    completion.followPlan();
    packing.open();
    peers.open();
    this.#watchForDrain(plans);
    this.#publishMetrics(plans);
    this.#options.logger.info('the topology master serves', { epoch, ...this.ports });
  }

  /** Ends everything but the state manager, which was given. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const close of this.#closers.splice(0)) await close();
  }

  /** What is damaged is waited for without end: to die of it would only repeat itself. */
  async #readFacts(): Promise<TopologyFacts> {
    for (;;) {
      try {
        return await this.#retry('read the topology', () => readTopologyFacts(this.#options));
      } catch (error) {
        if (!hasCode(error, 'STATE_CORRUPTED') || this.#isClosed) throw error;
        this.#options.logger.error('waiting for the topology to be mended', { error });
      }
    }
  }

  /** This incarnation has to end: nothing is changed any more, whatever is still asked for. */
  #fail(error: EngineError): void {
    void this.#plans?.close();
    this.#options.onFailure(error);
  }

  #createPackingKeeper(
    { packing, packingBytes, topology }: TopologyFacts,
    onChange: () => void,
  ): PackingKeeper {
    const keeper = new PackingKeeper({
      ...this.#options,
      topology,
      initial: packing,
      initialBytes: packingBytes,
      onChange,
    });
    this.#closers.push(() => keeper.close());
    return keeper;
  }

  #createPlanKeeper(
    masterEpoch: Epoch,
    sources: Pick<
      PlanKeeperOptions,
      'packing' | 'submitted' | 'hasEnded' | 'hasEndedBefore' | 'isOver' | 'lost' | 'onPlan'
    >,
  ): PlanKeeper {
    const plans = new PlanKeeper({
      ...this.#options,
      ...sources,
      masterEpoch,
      drainLimitMs: this.#options.settings.get('topology.update.drain.secs') * MS_PER_SECOND,
      onFenced: (error) => this.#fail(error),
    });
    this.#closers.push(() => plans.close());
    return plans;
  }

  #createCompletionKeeper({ topology }: TopologyFacts, plans: () => PlanKeeper): CompletionKeeper {
    const completion = new CompletionKeeper({
      ...this.#options,
      topology,
      instances: () => plans().current?.instances ?? [],
      inTurn: (step) => plans().inTurn(step),
      run: () => plans().history,
    });
    this.#closers.push(() => completion.close());
    return completion;
  }

  #createPeers(
    masterEpoch: Epoch,
    { topology }: TopologyFacts,
    { plans, packing, completion }: Keepers,
  ): StreamManagerServer {
    const peers = new StreamManagerServer({
      ...this.#options,
      engineVersion: ENGINE_VERSION,
      plans: {
        packing: () => packing.current,
        inForce: () => plans.current,
        refresh: () => this.#refresh(packing),
      },
      isForeign: isForeignTopology(topology),
      masterEpoch,
      timeoutMs: this.#options.settings.get('heron.tmanager.stmgr.state.timeout.ms'),
      events: {
        onRegistered: (registration) => plans.register(registration),
        onGone: (id) => plans.unregister(id),
        onProgress: (id, progress) => plans.note(id, progress),
        onEnded: (tasks) => completion.addEnded(tasks),
        onLost: (incidents) => completion.addLost(incidents),
        onMetrics: (metrics) => this.#statistics.add(metrics),
        onStepDown: (error) => this.#fail(error),
      },
    });
    this.#closers.push(() => peers.close());
    return peers;
  }

  async #refresh(packing: PackingKeeper): Promise<void> {
    try {
      await packing.refresh();
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.#options.logger.warn('the packing plan cannot be read again', { error });
    }
  }

  async #listen(
    { topology }: TopologyFacts,
    plans: PlanKeeper,
    peers: StreamManagerServer,
  ): Promise<void> {
    const { host, serverPort, settings } = this.#options;
    const megabytes = settings.get('heron.tmanager.network.server.options.maximum.packet.mb');
    const server = await PacketServer.listen({
      ...this.#options,
      address: { host, port: serverPort },
      handlers: peers.handlers,
      packetBytesMax: megabytes * BYTES_PER_MB,
    });
    this.#closers.unshift(() => server.close());
    const commands = { ...this.#options, topology: plans, isForeign: isForeignTopology(topology) };
    const control = await this.#listenHttp(this.#options.controllerPort, controlHandler(commands));
    const components = new Set<string>(topology.components.map((component) => component.name));
    const questions = masterStatsHandler(
      () => ({
        metrics: this.#statistics.metrics,
        exceptions: this.#statistics.exceptions,
        histograms: this.#statistics.histograms,
        components,
        nowSeconds: this.#statistics.nowSeconds,
        sinceSeconds: this.#statistics.sinceSeconds,
        dialect: 'topology-master',
      }),
      () => ({ registered: peers.registered, absent: plans.absent }),
    );
    const stats = await this.#listenHttp(this.#options.statsPort, questions);
    this.#ports = { server, control, stats };
  }

  async #listenHttp(port: number, handle: HttpHandler): Promise<HttpServer> {
    const { host, logger, listenHttp } = this.#options;
    const bodyBytesMax = HTTP_BODY_BYTES_MAX;
    const server = await listenHttp({ host, port, logger, handle, bodyBytesMax });
    this.#closers.unshift(() => server.close());
    return server;
  }

  async #claimLocation(epoch: Epoch): Promise<void> {
    const { topologyName, topologyId, host, settings } = this.#options;
    const ports = this.ports;
    const keeper = new LocationKeeper({
      ...this.#options,
      topology: topologyName,
      location: TopologyMasterLocation.create({
        topologyName,
        topologyId,
        host,
        serverPort: ports.server,
        controllerPort: ports.controller,
        statsPort: ports.stats,
        epoch: BigInt(epoch),
      }),
      limitMs: settings.get('heron.check.tmanager.location.interval.ms'),
      onStepDown: (error) => this.#fail(error),
    });
    this.#closers.unshift(() => keeper.close());
    await keeper.claim();
  }

  #heedLogLevel(): void {
    if (this.plan !== undefined) this.#options.setLogLevel?.(logLevelOf(this.plan.topology));
  }

  #watchForDrain(plans: PlanKeeper): void {
    const drain = new DrainKeeper({ ...this.#options, plans });
    this.#closers.unshift(() => drain.close());
    drain.open();
  }

  #publishMetrics(plans: PlanKeeper): void {
    const publisher = createMasterPublisher({
      ...this.#options,
      serverPort: this.ports.server,
      dropped: () => this.#statistics.dropped,
      plan: () => this.plan,
      absent: () => plans.absent.length,
    });
    this.#closers.unshift(() => publisher.close());
    publisher.start();
  }

  /** As long as a missing topology or state manager may take to appear. */
  #retry<Result>(what: string, operation: () => Promise<Result>): Promise<Result> {
    const limitMs = this.#options.settings.get('heron.check.tmanager.location.interval.ms');
    return retry(operation, { ...this.#options, what, limitMs });
  }
}

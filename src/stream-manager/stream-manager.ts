import { assertDefined } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import type { EngineError } from '../base/errors.ts';
import {
  componentName,
  containerOfStreamManager,
  type InstanceId,
  type StreamManagerId,
  type TaskId,
} from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { BYTES_PER_MB } from '../base/units.ts';
import type { MetricsRegistry } from '../metrics/metrics-registry.ts';
import { type InstanceAddress, mayBegin, type PhysicalPlan } from '../model/physical-plan.ts';
import { PlanIndex } from '../model/plan-index.ts';
import { backPressureMarks, type Settings } from '../model/settings.ts';
import type { Network } from '../net/network.ts';
import { PacketServer } from '../net/server.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import { LinkWatch } from '../supervision/link-watch.ts';
import type { PhysicalPlanMessage } from '../wire/physical-plan.ts';
import { type TopologyMessage, topologyFromMessage } from '../wire/topology.ts';
import { atLeastOnce } from './ack-traffic.ts';
import { BackPressure, type PressureView } from './back-pressure.ts';
import type { DataHoldings } from './data-holdings.ts';
import { DataPath } from './data-path.ts';
import { InstanceExpectation } from './expected-instances.ts';
import { InstanceServer } from './instance-server.ts';
import type { InstanceSession } from './instance-session.ts';
import { MasterClient } from './master-client.ts';
import type { Membership } from './membership.ts';
import type { PeerLink } from './peer-link.ts';
import { PeerLinks } from './peer-links.ts';
import { PlanIntake, type PlanIntakeOptions, type PlanInForce } from './plan-intake.ts';
import { taskOfInstanceId } from './registration.ts';
import { InstanceTraffic } from './traffic-metrics.ts';

export interface StreamManagerOptions extends Pick<PlanIntakeOptions, 'setLogLevel'> {
  readonly id: StreamManagerId;
  readonly own: Membership;
  /** The instances of the container, until the packing plan says otherwise. */
  readonly instanceIds: readonly InstanceId[];
  /** The topology as its `.defn` file holds it. */
  readonly definition: TopologyMessage;
  readonly settings: Settings;
  /** Own address, as others dial it. */
  readonly host: string;
  /** Ports for other stream managers and for instances; 0 lets the operating system choose. */
  readonly dataPort: number;
  readonly localDataPort: number;
  readonly shellPort: number;
  readonly workingDirectory: string;
  readonly pid: number;
  readonly stateManager: StateManager;
  readonly network: Network;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** This process cannot go on. */
  readonly onFailure: (error: EngineError) => void;
}

/**
 * A container's stream manager. It carries the tuples of its instances to each other and to the
 * other containers (data-path.ts), and does so in this order:
 *
 *   1. listens, finds the topology master, waits for all instances of its container
 *   2. registers itself and them with the master, which answers with the plan
 *   3. links with every other stream manager of the plan
 *   4. gives the plan to its instances, which start (`#open`)
 *
 * From then on each part may go away and come back by itself; the others go on.
 *
 * An update of the topology comes as a packing plan, by which other instances may register, and as
 * physical plans: one with the new tasks, in which others are marked as retiring, and one without
 * those. Each of them takes effect in one turn (`#workBy`). A stream manager that starts in the
 * middle of an update begins with what is in force then.
 */
export class StreamManager {
  readonly #options: StreamManagerOptions;
  readonly #expected: InstanceExpectation;
  readonly #instances: InstanceServer;
  readonly #peers: PeerLinks;
  readonly #path: DataPath;
  readonly #pressure: BackPressure<PeerLink>;
  readonly #plans: PlanIntake;
  /** Of links with instances and with other stream managers: together they show who is deaf. */
  readonly #links: LinkWatch;
  #servers: readonly PacketServer[] = [];
  #master: MasterClient | undefined;
  #plan: PlanIndex | undefined;
  #isOpen = false;

  constructor(options: StreamManagerOptions) {
    this.#options = options;
    const silenceMs = options.settings.get('heron.streammgr.link.silence.ms');
    this.#links = new LinkWatch(options.clock, silenceMs);
    this.#expected = this.#createExpectation();
    this.#path = this.#createPath();
    this.#path.expect(this.#expectedTasks());
    this.#instances = this.#createInstanceServer();
    this.#peers = this.#createPeerLinks();
    this.#pressure = this.#createBackPressure();
    this.#plans = new PlanIntake({
      ...options,
      streamManager: options.id,
      topologyId: options.own.topologyId,
      instanceIds: () => this.#expected.ids,
    });
  }

  /** @throws EngineError PORT_IN_USE. */
  async start(): Promise<void> {
    const { host, dataPort, localDataPort, settings } = this.#options;
    const packetBytesMax = packetLimit(settings);
    const instances = await PacketServer.listen({
      ...this.#options,
      address: { host, port: localDataPort },
      handlers: this.#instances.handlers,
      packetBytesMax,
    });
    this.#servers = [instances];
    const peers = await PacketServer.listen({
      ...this.#options,
      address: { host, port: dataPort },
      handlers: this.#peers.handlers,
      packetBytesMax,
    });
    this.#servers = [instances, peers];
    this.#master = this.#createMasterClient(peers.address.port, instances.address.port);
    this.#master.start();
    this.#expected.start();
  }

  /** The ports that were really taken. */
  get ports(): { readonly data: number; readonly localData: number } {
    const [instances, peers] = this.#servers;
    const started = 'the stream manager has started';
    return {
      data: assertDefined(peers, started).address.port,
      localData: assertDefined(instances, started).address.port,
    };
  }

  /** The plan that it works by; undefined before the first. */
  get plan(): PhysicalPlan | undefined {
    return this.#plans.current?.plan;
  }

  /** The tuples in it just now. */
  get holdings(): DataHoldings {
    return this.#path.holdings;
  }

  /** Trees of all spouts of its container that are neither acked nor failed. */
  get liveTrees(): number {
    const instances = this.plan?.instances ?? [];
    return instances.reduce((sum, { task }) => sum + this.#path.liveTreesOf(task), 0);
  }

  /** Who is behind and who holds just now. */
  get backPressure(): PressureView {
    return this.#pressure.view;
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#expected.close();
    this.#master?.close();
    this.#pressure.close();
    this.#peers.close();
    await Promise.all(this.#servers.map((server) => server.close()));
    this.#path.close(); // Now nothing comes in any more that would start its timers again.
  }

  #createExpectation(): InstanceExpectation {
    const { id, instanceIds, definition, own } = this.#options;
    const { components } = topologyFromMessage(definition);
    return new InstanceExpectation({
      ...this.#options,
      topologyName: own.topologyName,
      streamManager: id,
      container: assertDefined(containerOfStreamManager(id), `${id} is a stream manager`),
      ids: new Set(instanceIds),
      languages: new Map(components.map(({ name, language }) => [componentName(name), language])),
      onChange: () => this.#onExpectation(),
    });
  }

  #createPath(): DataPath {
    const { id, settings, metrics } = this.#options;
    return new DataPath({
      ...this.#options,
      streamManager: id,
      peerWindowBytes: settings.get('heron.streammgr.credit.bytes'),
      instanceWindowBytes: settings.get('heron.instance.credit.bytes'),
      keyGroups: settings.get('topology.key.groups'),
      traffic: new InstanceTraffic(metrics),
      atLeastOnce: atLeastOnce(settings, metrics),
      dropsWhenBehind: settings.get('topology.droptuples.upon.backpressure'),
      onEnded: (task) => this.#master?.taskEnded(task),
      onRetired: (task) => this.#onRetired(task),
    });
  }

  #createInstanceServer(): InstanceServer {
    return new InstanceServer({
      ...this.#options,
      expected: this.#expected,
      instanceWindowBytes: this.#options.settings.get('heron.instance.credit.bytes'),
      events: {
        onRegistered: (session) => this.#onInstanceRegistered(session),
        onLost: (session) => this.#onInstanceLost(session),
        onTupleSet: (session, packet) => this.#path.handleInstanceSet(session, packet),
      },
      hasEnded: (task) => this.#path.hasEnded(task),
      watch: this.#links,
    });
  }

  #createPeerLinks(): PeerLinks {
    const { id, settings } = this.#options;
    return new PeerLinks({
      ...this.#options,
      ownId: id,
      ownContainer: this.#expected.container,
      packetBytesMax: packetLimit(settings),
      reconnectIntervalMs: settings.get('heron.streammgr.client.reconnect.interval.ms'),
      events: {
        onLinkUp: (link) => {
          this.#path.linkUp(link);
          this.#pressure.linkUp(link);
          this.#openIfReady();
        },
        onLinkDown: (link) => {
          this.#path.linkDown(link);
          this.#pressure.linkDown(link.peer);
        },
        onStreamMessage: (link, packet) => this.#path.handlePeerMessage(link, packet),
        onPressure: (link, signal) => this.#pressure.handleSignal(link.peer, signal),
      },
      watch: this.#links,
    });
  }

  #createBackPressure(): BackPressure<PeerLink> {
    const { id, settings } = this.#options;
    return new BackPressure({
      ...this.#options,
      ownId: id,
      marks: {
        ...backPressureMarks(settings),
        ageMs: settings.get('heron.streammgr.backpressure.age.ms'),
      },
      leaseMs: settings.get('heron.streammgr.backpressure.lease.ms'),
      scope: settings.get('topology.backpressure.scope'),
      dropsTuples: settings.get('topology.droptuples.upon.backpressure'),
      peers: {
        toAll: (signal) => this.#peers.announce(signal),
        to: (link, signal) => this.#peers.tell(link, signal),
      },
      awaitsTuplesFor: (task) => this.#path.awaitsTuplesFor(task),
      onHeld: (tasks) => this.#path.setHeld(tasks),
    });
  }

  #createMasterClient(dataPort: number, localDataPort: number): MasterClient {
    const { settings, onFailure } = this.#options;
    const packetMegabytes = settings.get('heron.tmanager.network.server.options.maximum.packet.mb');
    return new MasterClient({
      ...this.#options,
      address: { ...this.#options, dataPort, localDataPort },
      packetBytesMax: packetMegabytes * BYTES_PER_MB,
      reconnectIntervalMs: settings.get('heron.streammgr.client.reconnect.tmanager.interval.ms'),
      heartbeatIntervalMs: settings.get('heron.streammgr.tmanager.heartbeat.interval.ms'),
      locationLimitMs: settings.get('heron.check.tmanager.location.interval.ms'),
      events: { onPlan: (plan) => this.#onPlan(plan), onFatal: onFailure },
    });
  }

  #expectedTasks(): ReadonlySet<TaskId> {
    const task = (id: InstanceId): TaskId =>
      assertDefined(taskOfInstanceId(id), `${id} ends with its task`);
    return new Set(Array.from(this.#expected.ids, task));
  }

  /** The packing plan gives the container other instances. */
  #onExpectation(): void {
    this.#path.expect(this.#expectedTasks());
    this.#dismissInstances();
    this.#registerIfComplete();
  }

  #registerIfComplete(): void {
    if (this.#instances.hasSeenAll) this.#master?.register(this.#instances.addresses);
  }

  /** Those that are neither expected nor in the plan have to go. */
  #dismissInstances(): void {
    this.#instances.dismiss((task) => this.#plan?.instanceOf(task) !== undefined);
  }

  #onInstanceRegistered(session: InstanceSession): void {
    const { task } = session.address;
    this.#path.instanceRegistered(session);
    this.#pressure.instanceRegistered(task, session);
    if (this.#isOpen && this.#isPlanned(task)) this.#path.instanceOpened(session);
    this.#registerIfComplete();
    // After this turn: the answer to the registration comes before anything else.
    this.#options.clock.soon(() => this.#openIfReady());
  }

  #onInstanceLost(session: InstanceSession): void {
    const { task } = session.address;
    this.#path.instanceLost(session);
    this.#pressure.instanceLost(task);
    // Before a plan has it there is no data, and behind the end marker there is none left.
    if (this.#isPlanned(task) && !this.#path.hasEnded(task)) this.#master?.taskLost(task);
  }

  #onRetired(task: TaskId): void {
    this.#options.logger.info('a task has retired', { task });
    this.#master?.taskRetired(task);
  }

  #onPlan(message: PhysicalPlanMessage): void {
    const inForce = this.#plans.take(message);
    if (inForce === undefined) return;
    this.#workBy(inForce);
    const { epoch } = inForce.plan;
    this.#master?.planInForce(epoch, new Set(this.#ownInstances().map(({ task }) => task)));
    this.#openIfReady();
  }

  /**
   * A plan is in force from now on. Instances get it ahead of tuples that it routes to them. Peers
   * come last: by then no queue and no tree knows those that are gone.
   */
  #workBy(inForce: PlanInForce): void {
    const before = this.#plan;
    const plan = new PlanIndex(inForce.plan);
    this.#plan = plan;
    if (this.#isOpen) this.#publish(inForce);
    this.#path.update(plan);
    this.#pressure.update(plan, this.#path.outboxes);
    if (this.#isOpen) {
      this.#open((task) => before?.instanceOf(task) === undefined);
    }
    if (plan.streamManager(this.#options.id) === undefined) this.#leave();
    else this.#peers.update(inForce.plan);
    this.#dismissInstances();
  }

  /** The container has retired as a whole; the executor is about to end its processes. */
  #leave(): void {
    this.#options.logger.info('the plan does without this container');
    this.#peers.leave();
  }

  #publish({ message }: PlanInForce): void {
    const begun = this.#ownInstances().filter(mayBegin);
    this.#instances.publishPlan({ message, tasks: new Set(begun.map(({ task }) => task)) });
  }

  /** Lets tuples go to the instances of the plan that are chosen. */
  #open(isChosen: (task: TaskId) => boolean): void {
    for (const session of this.#instances.sessions) {
      const { task } = session.address;
      if (this.#isPlanned(task) && isChosen(task)) this.#path.instanceOpened(session);
    }
  }

  /** No tuple flows before every part of the way is there. Once open, it stays so. */
  #openIfReady(): void {
    const inForce = this.#plans.current;
    if (this.#isOpen || inForce === undefined) return;
    const ids = this.#ownInstances().map(({ id }) => id);
    if (!this.#instances.areConnected(ids) || !this.#peers.areAllUp) return;
    this.#isOpen = true;
    this.#options.logger.info('all instances and stream managers are connected');
    this.#publish(inForce);
    this.#open(() => true);
  }

  #ownInstances(): readonly InstanceAddress[] {
    return this.#plan?.instancesOf(this.#options.id) ?? [];
  }

  #isPlanned(task: TaskId): boolean {
    return this.#plan?.instanceOf(task)?.streamManager === this.#options.id;
  }
}

function packetLimit(settings: Settings): number {
  return settings.get('heron.streammgr.network.options.maximum.packet.mb') * BYTES_PER_MB;
}

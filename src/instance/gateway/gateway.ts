import { unreachable } from '../../base/assert.ts';
import type { Timer } from '../../base/clock.ts';
import { type EngineError, type ErrorEnvelope, messageOf, toEnvelope } from '../../base/errors.ts';
import type { Logger, LogLevel } from '../../base/logger.ts';
import { BYTES_PER_MB } from '../../base/units.ts';
import type { MetricsPublisher } from '../../metrics-publisher/metrics-publisher.ts';
import { createProcessPublisher } from '../../metrics-publisher/process-publisher.ts';
import { logLevelOf } from '../../model/log-level.ts';
import type { LogicalTopology } from '../../model/logical-topology.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import { reliabilityOf } from '../../model/reliability.ts';
import { Settings } from '../../model/settings.ts';
import { type BlockedTask, BlockedTaskWatch } from './blocked-task-watch.ts';
import { activityText, describeBlockedTask } from './blocked-task-report.ts';
import type { GatewayEnvironment } from './gateway-environment.ts';
import { GatewayMetrics } from './gateway-metrics.ts';
import { GatewayPorts } from './gateway-ports.ts';
import { Inbound } from './inbound.ts';
import { Outbound } from './outbound.ts';
import { SampleRequests } from './sample-requests.ts';
import { StreamManagerLink } from './stream-manager-link.ts';
import type { GatewayStart, ToGateway, ToTask } from '../thread-channel.ts';

/** How often a stopping gateway looks whether what the task wrote is out. */
const DRAIN_LOOK_MS = 5;
/**
 * How long it goes on looking. A downstream task that is gone gives no credit any more, and then
 * nothing would ever leave; what is left behind is lost, as at most once allows.
 */
const DRAIN_MS_MAX = 500;
/** The part of the grace time that a stuck task gets; the rest is for showing where it is stuck. */
const GRACE_PART = 0.8;

export interface GatewayOptions {
  readonly start: GatewayStart;
  readonly topology: LogicalTopology;
  readonly environment: Pick<
    GatewayEnvironment,
    'clock' | 'random' | 'network' | 'doorbells' | 'resourceUse' | 'taskStack' | 'kill'
  >;
  readonly logger: Logger;
  /** Of the logger above; by each plan. */
  readonly setLogLevel?: (level: LogLevel) => void;
  readonly send: (message: ToTask) => void;
}

/**
 * The gateway's thread of an instance: owns its connections and moves bytes between them and the
 * rings. Wiring only. It never runs user code and never waits for the task.
 */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #ports: GatewayPorts;
  readonly #settings: Settings;
  readonly #isBolt: boolean;
  readonly #inbound: Inbound;
  readonly #outbound: Outbound;
  readonly #link: StreamManagerLink;
  readonly #publisher: MetricsPublisher;
  readonly #metrics: GatewayMetrics;
  readonly #watch: BlockedTaskWatch;
  readonly samples: SampleRequests;
  #phase: 'running' | 'stopping' | 'closed' = 'running';
  #deadline: Timer | undefined;

  constructor(options: GatewayOptions) {
    const { start, topology, environment, logger, send } = options;
    const { clock, network, random, doorbells } = environment;
    const { identity, token } = start;
    const component = topology.components.find(({ name }) => name === identity.component);
    const settings = new Settings(topology.config, component?.config ?? new Map());
    const ports = new GatewayPorts(settings, doorbells);
    this.#options = options;
    this.#settings = settings;
    this.#isBolt = component?.kind === 'bolt';
    this.#ports = ports;
    this.#outbound = new Outbound(ports.dataOut, identity.task);
    this.#inbound = new Inbound({
      clock,
      ring: ports.dataIn,
      task: identity.task,
      status: ports.status,
      windowBytes: settings.get('heron.streammgr.credit.bytes'),
      sendLargeSet: (bytes) => send({ kind: 'large-set', bytes }),
      isTracked: reliabilityOf(topology.config) === 'ATLEAST_ONCE',
      onGrant: (bytes) => this.#outbound.grant(bytes),
      ringTask: () => ports.ringTask(),
    });
    this.#link = this.#createLink();
    this.#metrics = new GatewayMetrics({
      inbound: this.#inbound,
      outbound: this.#outbound,
      ports,
      clock,
      resourceUse: () => environment.resourceUse(),
      onSpans: (spans) => this.#publisher.publishSpans(spans),
    });
    this.#publisher = createProcessPublisher({
      network,
      clock,
      random,
      logger,
      token,
      host: identity.host,
      metricsManagerPort: identity.metricsManagerPort,
      settings,
      identity: {
        port: identity.task,
        componentName: identity.component,
        instanceId: identity.instance,
        instanceIndex: identity.componentIndex,
      },
      collect: () => this.#metrics.collect(),
      collectHistograms: () => this.#metrics.collectHistograms(),
      onPublished: (published) => this.#metrics.addPublished(published),
    });
    this.#watch = new BlockedTaskWatch({
      clock,
      status: ports.status,
      limitMs: settings.get('heron.instance.blocked.task.ms'),
      ping: (number) => send({ kind: 'ping', number }),
      onBlocked: (blocked) => void this.#reportBlocked(blocked),
    });
    this.samples = new SampleRequests(clock, send);
  }

  /** What the task's thread is doing, for people. */
  get taskActivity(): string {
    return activityText(this.#options.start.identity, this.#ports.status);
  }

  /** Bytes from the stream manager that wait outside of the task's ring. */
  get waitingBytes(): number {
    return this.#inbound.waitingBytes;
  }

  /** Gives the task its topology, and begins to connect. */
  start(): void {
    const { send, topology } = this.#options;
    send({ kind: 'definition', topology, memory: this.#ports.memory });
    this.#link.start();
    this.#publisher.start();
    void this.#pumpForEver();
  }

  handle(message: ToGateway): void {
    const { logger } = this.#options;
    switch (message.kind) {
      case 'loaded':
      case 'started':
        logger.info(`the task has ${message.kind}`);
        return;
      case 'ended':
        logger.info('the task has ended');
        this.#inbound.end();
        return;
      case 'large-set':
        this.#outbound.handleLargeSet(message.bytes);
        return;
      case 'exception':
        this.#publisher.addException(message.error.stack);
        return;
      case 'failed':
        this.#handleFailed(message.error);
        return;
      case 'sample':
        this.samples.handle(message);
        return;
      case 'stopped':
        this.#drain(this.#options.environment.clock.now() + DRAIN_MS_MAX);
        return;
      case 'stop':
        this.stop();
        return;
      default:
        unreachable(message);
    }
  }

  /**
   * Begins the orderly end; called for a signal, and when the parent is gone. A task that is stuck
   * past its part of the grace time is shown and killed (ruling R7). Idempotent.
   */
  stop(): void {
    if (this.#phase !== 'running') return;
    this.#phase = 'stopping';
    const { environment, send } = this.#options;
    const { clock } = environment;
    send({ kind: 'stop' });
    this.#watch.ping();
    // A task that waits inside `emit` cannot hear of it before the ring is closed under it.
    clock.after(DRAIN_MS_MAX, () => this.#ports.closeOutput());
    const graceMs = this.#settings.get('heron.shutdown.grace.ms') * GRACE_PART;
    this.#deadline = clock.after(graceMs, () => void this.#giveUp(graceMs));
  }

  #createLink(): StreamManagerLink {
    const { start, environment, logger, topology } = this.#options;
    const { network, clock, random } = environment;
    const { identity, token, process } = start;
    const settings = this.#settings;
    return new StreamManagerLink({
      identity,
      token,
      process,
      network,
      clock,
      random,
      logger,
      packetBytesMax:
        settings.get('heron.streammgr.network.options.maximum.packet.mb') * BYTES_PER_MB,
      reconnectMs: settings.get('heron.instance.reconnect.streammgr.interval.ms'),
      // Of the topology, as its stream manager has it: they promise each other to beat in time.
      silenceMs: new Settings(topology.config).get('heron.streammgr.link.silence.ms'),
      creditBytes: settings.get('heron.streammgr.credit.bytes'),
      hasEnded: () => this.#outbound.hasEnded,
      onPlan: (plan) => this.#handlePlan(plan),
      onConnected: (connection, creditBytes) => {
        const forgetsTimeOuts = creditBytes === undefined;
        const isNews = this.#inbound.connect(connection, forgetsTimeOuts);
        const isAnswered = isNews && this.#isBolt; // A spout has no acks to send.
        this.#outbound.connect(connection, creditBytes, isAnswered);
      },
      onEndedBefore: () => this.#handleEndedBefore(),
      onDisconnected: () => {
        this.#inbound.disconnect();
        this.#outbound.disconnect();
      },
      onReplaced: (error) => this.#handleReplaced(error),
      onSet: (packet) => this.#inbound.handleSet(packet),
    });
  }

  #handlePlan(plan: PhysicalPlan): void {
    const { setLogLevel, start } = this.#options;
    setLogLevel?.(logLevelOf(plan.topology, start.identity.component));
    this.#ports.status.announcePlan();
    this.#options.send({ kind: 'plan', plan });
  }

  /** This process was started again after its task had ended: there is nothing left to do. */
  #handleEndedBefore(): void {
    this.#options.logger.info('the task had ended before this process was started');
    this.#options.send({ kind: 'ended-before' });
    this.#inbound.end();
    this.#outbound.end();
  }

  /** Row S41. A task that is busy, or hangs, hears of it when it is done, or not at all. */
  #handleReplaced(error: EngineError): void {
    const { logger, send, environment } = this.#options;
    logger.error(error.message);
    send({ kind: 'replaced', error: toEnvelope(error) });
    const graceMs = this.#settings.get('heron.shutdown.grace.ms');
    environment.clock.after(graceMs, () => environment.kill());
    this.#close();
  }

  #handleFailed(error: ErrorEnvelope): void {
    this.#publisher.addException(error.stack);
    this.#outbound.pump(); // What was emitted before.
    this.#close();
  }

  /** The task is done: closes as soon as what it wrote is out. */
  #drain(deadlineMs: number): void {
    if (this.#phase === 'closed') return;
    const { clock } = this.#options.environment;
    this.#phase = 'stopping';
    this.#outbound.pump();
    if (this.#outbound.isDrained || clock.now() >= deadlineMs) this.#close();
    else clock.after(DRAIN_LOOK_MS, () => this.#drain(deadlineMs));
  }

  #close(): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.#deadline?.cancel();
    this.#watch.close();
    this.#ports.closeOutput();
    this.#metrics.pump();
    this.#publisher.close();
    this.#link.close();
    this.#ports.bell.ring(); // Ends the pump.
    const { environment, send } = this.#options;
    const { clock } = environment;
    // What was sent last is written at the end of this turn; the process may end by `done`.
    clock.soon(() => send({ kind: 'done' }));
  }

  async #giveUp(graceMs: number): Promise<void> {
    await this.#reportBlocked({ ...this.#watch.state, blockedMs: graceMs });
    // It may have come to its end after all, while it was looked at.
    if (this.#phase !== 'closed') this.#options.environment.kill();
  }

  async #reportBlocked(blocked: BlockedTask): Promise<void> {
    const { start, logger, environment } = this.#options;
    try {
      const report = await describeBlockedTask(start.identity, blocked, () =>
        environment.taskStack(),
      );
      logger.error(report);
      this.#publisher.addException(report);
      this.#publisher.publish();
    } catch (error) {
      logger.error(`the task is blocked, and cannot be looked at: ${messageOf(error)}`, { error });
    }
  }

  async #pumpForEver(): Promise<void> {
    const { bell } = this.#ports;
    while (this.#phase !== 'closed') {
      const seen = bell.sequence();
      this.#outbound.pump();
      this.#inbound.pump();
      this.#metrics.pump();
      await bell.wait(seen);
    }
  }
}

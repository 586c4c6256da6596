import { assertDefined } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import type { TopologyId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { BYTES_PER_MB } from '../base/units.ts';
import { MetricsRegistry } from '../metrics/metrics-registry.ts';
import { registerProcessMetrics, type ResourceUse } from '../metrics/process-metrics.ts';
import { createProcessPublisher } from '../metrics-publisher/process-publisher.ts';
import { MetricsStore } from '../metrics-store/metrics-store.ts';
import {
  answerExceptions,
  answerMetrics,
  type StatsFacts,
} from '../metrics-store/stats-answers.ts';
import { statsHandler } from '../metrics-store/stats-handler.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import type { Settings } from '../model/settings.ts';
import type { HttpServer, ListenHttp } from '../net/http-rules.ts';
import { MessageHandlers } from '../net/message-handlers.ts';
import type { Network } from '../net/network.ts';
import { PacketServer } from '../net/server.ts';
import { NodeHolder } from '../state-manager/node-holder.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import {
  MetricsCacheLocation,
  PublishMetricsToMaster,
  QueryExceptions,
  QueryMetrics,
} from '../wire/messages.ts';

/*
  The metrics of a topology for whoever asks, put together. Metrics managers find it in the state
  tree and tell it what their processes publish; it remembers three hours by the minute, and answers
  in Heron's messages:

    PublishMetrics →                 server port, from metrics managers; nothing is said back
    MetricRequest, ExceptionLogRequest → and ←     server port
    POST /stats, /exceptions, /exceptionsummary    statistics port, HTTP

  It is apart from the topology master, so that questions and memory of metrics cost the master
  nothing, and the numbers outlive it. Its own death costs what it remembered and nothing else.
*/

export interface MetricsCacheOptions {
  readonly topologyId: TopologyId;
  readonly topology: LogicalTopology;
  readonly token: string;
  readonly host: string;
  readonly serverPort: number;
  readonly statsPort: number;
  readonly metricsManagerPort: number;
  readonly settings: Settings;
  readonly stateManager: StateManager;
  readonly network: Network;
  readonly listenHttp: ListenHttp;
  readonly resourceUse: () => ResourceUse;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Heron's names. */
const COMPONENT = '__metricscachemgr__';
const ID = 'metricscache-0';
/** As the master's port for questions. */
const HTTP_BODY_BYTES_MAX = 1024 * 1024;
/** What Heron writes where a metrics cache has no such port. */
const NO_PORT = -1;

export class MetricsCache {
  readonly #options: MetricsCacheOptions;
  readonly #store: MetricsStore;
  readonly #components: ReadonlySet<string>;
  readonly #registry = new MetricsRegistry();
  /** What has to be closed, in this order. */
  readonly #closers: (() => void | Promise<void>)[] = [];
  #server: PacketServer | undefined;
  #stats: HttpServer | undefined;

  constructor(options: MetricsCacheOptions) {
    this.#options = options;
    this.#store = new MetricsStore(options.clock, { joinsRepeats: true });
    this.#components = new Set<string>(options.topology.components.map(({ name }) => name));
    registerProcessMetrics(this.#registry, options.clock, options.resourceUse);
    this.#registry.gauge('__metrics-dropped', () => this.#store.dropped);
  }

  get ports(): { readonly server: number; readonly stats: number } {
    const server = assertDefined(this.#server, 'the cache listens').address.port;
    return { server, stats: assertDefined(this.#stats, 'the cache listens').port };
  }

  /**
   * Resolves when metrics and questions can come.
   *
   * @throws EngineError PORT_IN_USE.
   */
  async start(): Promise<void> {
    await this.#listen();
    this.#tellLocation();
    this.#publishOwn();
    this.#options.logger.info('the metrics cache serves', { ...this.ports });
  }

  /** Ends everything but the state manager, which was given. Idempotent. */
  async close(): Promise<void> {
    for (const close of this.#closers.splice(0)) await close();
  }

  async #listen(): Promise<void> {
    const { host, serverPort, statsPort, settings, logger, listenHttp } = this.#options;
    const megabytes = settings.get('heron.tmanager.network.server.options.maximum.packet.mb');
    const server = await PacketServer.listen({
      ...this.#options,
      address: { host, port: serverPort },
      handlers: this.#handlers(),
      packetBytesMax: megabytes * BYTES_PER_MB,
    });
    this.#server = server;
    this.#closers.unshift(() => server.close());
    const stats = await listenHttp({
      host,
      port: statsPort,
      logger,
      handle: statsHandler(() => this.#facts()),
      bodyBytesMax: HTTP_BODY_BYTES_MAX,
    });
    this.#stats = stats;
    this.#closers.unshift(() => stats.close());
  }

  #handlers(): MessageHandlers {
    const received = this.#registry.counter('metrics-received');
    const thrown = this.#registry.counter('exceptions-received');
    return new MessageHandlers()
      .on(PublishMetricsToMaster, (message) => {
        received.add(message.metrics.length);
        thrown.add(message.exceptions.length);
        this.#store.add(message);
      })
      .onRequest(QueryMetrics, (query) => answerMetrics(query, this.#facts()))
      .onRequest(QueryExceptions, (query) => answerExceptions(query, this.#facts()));
  }

  #facts(): StatsFacts {
    return {
      metrics: this.#store.metrics,
      exceptions: this.#store.exceptions,
      histograms: this.#store.histograms,
      components: this.#components,
      nowSeconds: this.#store.nowSeconds,
      sinceSeconds: this.#store.sinceSeconds,
      dialect: 'metrics-cache',
    };
  }

  #tellLocation(): void {
    const { topology, topologyId, host } = this.#options;
    const { server, stats } = this.ports;
    const location = MetricsCacheLocation.create({
      topologyName: topology.name,
      topologyId,
      host,
      controllerPort: NO_PORT,
      serverPort: server,
      statsPort: stats,
    });
    const holder = new NodeHolder({
      ...this.#options,
      path: paths.metricsCache(topology.name),
      // Nobody waits for it, so a cache that finds another one goes on: an executor was replaced,
      // and its children end with it.
      what: 'the location of the metrics cache',
      bytes: MetricsCacheLocation.encode(location),
    });
    this.#closers.unshift(() => holder.close());
    holder.open();
  }

  #publishOwn(): void {
    const publisher = createProcessPublisher({
      ...this.#options,
      identity: {
        port: this.ports.server,
        componentName: COMPONENT,
        instanceId: ID,
        instanceIndex: -1,
      },
      collect: () => this.#registry.collect(),
    });
    this.#closers.unshift(() => publisher.close());
    publisher.start();
  }
}

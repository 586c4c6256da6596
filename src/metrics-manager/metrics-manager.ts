import type { TopologyId } from '../base/ids.ts';
import type { Files } from '../base/files.ts';
import { MetricsRegistry } from '../metrics/metrics-registry.ts';
import { registerProcessMetrics, type ResourceUse } from '../metrics/process-metrics.ts';
import type { ListenHttp } from '../net/http-rules.ts';
import { PacketServer } from '../net/server.ts';
import { createSinks, type SinkSurroundings } from './create-sinks.ts';
import { type MetricsPage, MetricsPages } from './metrics-pages.ts';
import { PublisherServer } from './publisher-server.ts';
import { removeScrapeTarget, writeScrapeTarget } from './scrape-targets.ts';
import { SinkSet } from './sink-set.ts';

/*
  The metrics manager of one container, put together: publishers on one side, sinks on the other. It
  keeps nothing that must survive, so its death costs no more than what was published meanwhile;
  publishers wait with their counts until the next one is there.
*/

export interface MetricsManagerOptions extends SinkSurroundings {
  readonly topologyId: TopologyId;
  readonly token: string;
  readonly host: string;
  readonly port: number;
  /** Of the pages; the setting `heron.metricsmgr.http.port` stands above it. */
  readonly httpPort: number;
  readonly files: Files;
  readonly listenHttp: ListenHttp;
  readonly resourceUse: () => ResourceUse;
}

const COMPONENT = '__metricsmgr__';
const SCRAPED = '/metrics';

export class MetricsManager {
  readonly #options: MetricsManagerOptions;
  readonly #registry = new MetricsRegistry();
  readonly #sinks: SinkSet;
  /** What has to be closed, in this order. */
  readonly #closers: (() => void | Promise<void>)[] = [];
  #server: PacketServer | undefined;
  #pages: MetricsPages | undefined;

  constructor(options: MetricsManagerOptions) {
    this.#options = options;
    this.#sinks = new SinkSet(this.#registry, options.logger);
    registerProcessMetrics(this.#registry, options.clock, options.resourceUse);
  }

  get port(): number | undefined {
    return this.#server?.address.port;
  }

  /** Of the pages for whoever reads metrics by HTTP; undefined when there are none. */
  get httpPort(): number | undefined {
    return this.#pages?.port;
  }

  /**
   * Resolves when publishers can connect and the pages are there.
   *
   * @throws EngineError PORT_IN_USE, or FILE_FAILED when the metrics file cannot be opened.
   */
  async start(): Promise<void> {
    const { settings, clock, logger } = this.#options;
    const { watches, pages } = await createSinks(this.#sinks, this.#registry, this.#options);
    this.#closers.push(() => {
      for (const watch of watches) watch.close();
    });
    this.#closers.push(() => this.#sinks.close());
    await this.#listen();
    if (pages.size > 0) await this.#openPages(pages);
    const intervalMs = settings.get('heron.metrics.export.interval.ms');
    const timer = clock.every(intervalMs, () => this.#publishOwn());
    this.#closers.unshift(() => timer.cancel());
    const sinks = this.#sinks.names.join(', ');
    logger.info('the metrics manager serves', { port: this.port, httpPort: this.httpPort, sinks });
  }

  /** Publishes its own last numbers and ends everything but the state manager. Idempotent. */
  async close(): Promise<void> {
    if (this.#closers.length > 0) this.#publishOwn();
    for (const close of this.#closers.splice(0)) await close();
  }

  async #listen(): Promise<void> {
    const { host, port, settings } = this.#options;
    const publishers = new PublisherServer({
      ...this.#options,
      registry: this.#registry,
      onRecord: (record) => this.#sinks.accept(record),
      onSpans: (record) => this.#sinks.acceptSpans(record),
    });
    const server = await PacketServer.listen({
      ...this.#options,
      address: { host, port },
      handlers: publishers.handlers,
      packetBytesMax: settings.get('heron.metricsmgr.network.options.maximum.packetsize.bytes'),
    });
    this.#server = server;
    this.#closers.unshift(() => server.close());
  }

  async #openPages(pages: ReadonlyMap<string, MetricsPage>): Promise<void> {
    const { settings, container, httpPort, host } = this.#options;
    const first = settings.get('heron.metricsmgr.http.port');
    const made = new MetricsPages({
      ...this.#options,
      port: first === 0 ? httpPort : first + container,
      isPortFixed: first !== 0,
      pages,
      onOpen: (port) => {
        if (pages.has(SCRAPED)) writeScrapeTarget(this.#options, { host, port });
      },
    });
    this.#pages = made;
    this.#closers.unshift(async () => {
      removeScrapeTarget(this.#options);
      await made.close();
    });
    await made.open();
  }

  #publishOwn(): void {
    const { host: hostname, id: instance, clock } = this.#options;
    const source = { hostname, component: COMPONENT, instance };
    const metrics = this.#registry.collect();
    this.#sinks.accept({ source, atMs: clock.wallNow(), metrics, exceptions: [] });
  }
}

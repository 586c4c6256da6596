import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { TopologyId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import type { AppendFile, RotatingFileOptions } from '../base/rotating-file.ts';
import { BYTES_PER_MB } from '../base/units.ts';
import { ENGINE_VERSION } from '../base/version.ts';
import type { MetricsRegistry } from '../metrics/metrics-registry.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import type { Settings, SettingValue } from '../model/settings.ts';
import { samplesTraces } from '../model/trace-sampling.ts';
import type { Network } from '../net/network.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager, Watch } from '../state-manager/state-manager.ts';
import { MetricsCacheLocation, TopologyMasterLocation } from '../wire/messages.ts';
import { FileSink } from './file-sink.ts';
import type { MetricsPage } from './metrics-pages.ts';
import { PrometheusSink } from './prometheus-sink.ts';
import { PROMETHEUS_CONTENT_TYPE } from './prometheus-text.ts';
import { watchStoreLocation } from './store-location.ts';
import { StoreSink } from './store-sink.ts';
import type { MetricsDelivery } from './delivery-sink.ts';
import type { OtlpDeliveryOptions } from './otlp-delivery.ts';
import type { MetricsSink } from './sink.ts';
import type { SinkSet } from './sink-set.ts';

/*
  The sinks that the settings ask for. Those that are off by default are loaded when they are asked
  for: a metrics manager starts with every container.
*/

/** The place of a container in the world, for labels. */
export interface ContainerIdentity {
  readonly cluster: string;
  readonly role: string;
  readonly environ: string;
  readonly container: number;
}

export interface SinkSurroundings extends ContainerIdentity {
  /** `metricsmgr-<container>`. */
  readonly id: string;
  readonly topologyId: TopologyId;
  readonly topology: LogicalTopology;
  readonly logDirectory: string;
  readonly settings: Settings;
  readonly stateManager: StateManager;
  readonly network: Network;
  readonly openAppendFile: (options: RotatingFileOptions) => AppendFile;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface CreatedSinks {
  readonly watches: readonly Watch[];
  /** By path; empty when no sink has pages. */
  readonly pages: ReadonlyMap<string, MetricsPage>;
}

type SinkKind = SettingValue<'heron.metricsmgr.sinks'>[number];

/** A process that tells nothing for so long, and so many intervals, is taken for gone. */
const STALE_MS = 600_000;
const STALE_INTERVALS = 3;

/** @throws EngineError FILE_FAILED when the metrics file cannot be opened. */
export async function createSinks(
  sinks: SinkSet,
  registry: MetricsRegistry,
  surroundings: SinkSurroundings,
): Promise<CreatedSinks> {
  const factory = new SinkFactory(sinks, registry, surroundings);
  for (const kind of surroundings.settings.get('heron.metricsmgr.sinks')) await factory.add(kind);
  await factory.addTraces();
  return factory;
}

class SinkFactory implements CreatedSinks {
  readonly watches: Watch[] = [];
  readonly pages = new Map<string, MetricsPage>();
  readonly #sinks: SinkSet;
  readonly #registry: MetricsRegistry;
  readonly #surroundings: SinkSurroundings;

  constructor(sinks: SinkSet, registry: MetricsRegistry, surroundings: SinkSurroundings) {
    this.#sinks = sinks;
    this.#registry = registry;
    this.#surroundings = surroundings;
  }

  async add(kind: SinkKind): Promise<void> {
    switch (kind) {
      case 'file':
        return this.#addFile();
      case 'tmanager':
        return this.#addTopologyMaster();
      case 'metricscache':
        return this.#addMetricsCache();
      case 'prometheus':
        return this.#addPrometheus();
      case 'web':
        return this.#addWeb();
      case 'graphite':
        return this.#addGraphite();
      case 'otlp':
        return this.#addOtlp();
    }
  }

  #addFile(): void {
    const { id, logDirectory, settings, openAppendFile } = this.#surroundings;
    const file = openAppendFile({
      file: join(logDirectory, `${id}-metrics.jsonl`),
      bytesMax: settings.get('heron.logging.maximum.size.mb') * BYTES_PER_MB,
      filesMax: settings.get('heron.logging.maximum.files'),
    });
    this.#sinks.add(new FileSink(file, this.#sinks.countersOf('file-sink')));
  }

  #addTopologyMaster(): void {
    const sink = this.#addStore('tmanager-sink', 'topology master');
    const path = paths.topologyMaster(this.#surroundings.topology.name);
    this.#follow(sink, {
      path,
      message: TopologyMasterLocation,
      peer: 'topology master',
      counter: 'new-tmanager-location',
    });
  }

  #addMetricsCache(): void {
    const { settings, topology } = this.#surroundings;
    if (settings.get('heron.topology.metricscachemgr.mode') === 'disabled') return;
    const sink = this.#addStore('metricscache-sink', 'metrics cache');
    this.#follow(sink, {
      path: paths.metricsCache(topology.name),
      message: MetricsCacheLocation,
      peer: 'metrics cache',
      counter: 'new-metricscache-location',
    });
  }

  #addStore(name: string, peer: string): StoreSink {
    const { settings } = this.#surroundings;
    const reconnectMs = settings.get('heron.instance.reconnect.metricsmgr.interval.ms');
    const counters = this.#sinks.countersOf(name);
    const sink = new StoreSink({ ...this.#surroundings, name, peer, reconnectMs, counters });
    this.#sinks.add(sink);
    return sink;
  }

  #follow(
    sink: StoreSink,
    {
      counter,
      ...location
    }: Pick<Parameters<typeof watchStoreLocation>[0], 'path' | 'message' | 'peer'> & {
      readonly counter: string;
    },
  ): void {
    const watch = watchStoreLocation({ ...this.#surroundings, ...location }, (store) => {
      this.#registry.counter(counter).add(1);
      sink.retarget(store);
    });
    this.watches.push(watch);
  }

  #addPrometheus(): void {
    const { clock, topology, cluster, role, environ, container } = this.#surroundings;
    const sink = new PrometheusSink({
      clock,
      counters: this.#sinks.countersOf('prometheus-sink'),
      commonLabels: [
        ['topology', topology.name],
        ['cluster', cluster],
        ['role', role],
        ['env', environ],
        ['container', String(container)],
      ],
      engineVersion: ENGINE_VERSION,
      staleMs: this.#staleMs,
    });
    this.#sinks.add(sink);
    const page = { contentType: PROMETHEUS_CONTENT_TYPE, make: () => sink.text() };
    this.pages.set('/metrics', page);
  }

  async #addWeb(): Promise<void> {
    const { clock, topology } = this.#surroundings;
    const { WebSink } = await import('./web-sink.ts');
    const counters = this.#sinks.countersOf('web-sink');
    const sink = new WebSink({ clock, counters, topology: topology.name, staleMs: this.#staleMs });
    this.#sinks.add(sink);
    const page = {
      contentType: 'application/json',
      make: (query: URLSearchParams) => sink.json(query),
    };
    this.pages.set('/metrics.json', page);
  }

  async #addGraphite(): Promise<void> {
    const { network, settings, topology } = this.#surroundings;
    const { GraphiteDelivery } = await import('./graphite-delivery.ts');
    const address = {
      host: settings.get('heron.metricsmgr.graphite.host'),
      port: settings.get('heron.metricsmgr.graphite.port'),
    };
    const prefix = settings.get('heron.metricsmgr.graphite.prefix');
    const options = { network, address, prefix, topology: topology.name };
    await this.#addDelivery('graphite-sink', new GraphiteDelivery(options));
  }

  async #addOtlp(): Promise<void> {
    const { otlpMessage } = await import('./otlp-message.ts');
    const endpoint = this.#surroundings.settings.get('heron.metricsmgr.otlp.endpoint');
    await this.#addDelivery('otlp-sink', await this.#otlpDelivery(endpoint, otlpMessage));
  }

  /** Where traces are sampled; whether metrics go to a collector, too, is another question. */
  async addTraces(): Promise<void> {
    const { settings, topology } = this.#surroundings;
    if (!samplesTraces(topology)) return;
    const { otlpTraces } = await import('./otlp-message.ts');
    const endpoint = settings.get('heron.metricsmgr.otlp.traces.endpoint');
    const sink = await this.#deliverySink(
      'trace-sink',
      await this.#otlpDelivery(endpoint, otlpTraces),
    );
    this.#sinks.addForSpans(sink);
  }

  async #otlpDelivery(
    endpoint: string,
    message: OtlpDeliveryOptions['message'],
  ): Promise<MetricsDelivery> {
    const { settings, network, topology, topologyId, cluster, role, environ, container } =
      this.#surroundings;
    const { OtlpDelivery } = await import('./otlp-delivery.ts');
    return new OtlpDelivery({
      network,
      endpoint,
      message,
      resource: {
        topology: topology.name,
        topologyId,
        cluster,
        role,
        environ,
        container: String(container),
        engineVersion: ENGINE_VERSION,
        intervalMs: settings.get('heron.metrics.export.interval.ms'),
      },
    });
  }

  async #addDelivery(name: string, delivery: MetricsDelivery): Promise<void> {
    this.#sinks.add(await this.#deliverySink(name, delivery));
  }

  async #deliverySink(name: string, delivery: MetricsDelivery): Promise<MetricsSink> {
    const { clock, random, logger } = this.#surroundings;
    const { DeliverySink } = await import('./delivery-sink.ts');
    const counters = this.#sinks.countersOf(name);
    return new DeliverySink({ name, delivery, clock, random, logger, counters });
  }

  get #staleMs(): number {
    const intervalMs = this.#surroundings.settings.get('heron.metrics.export.interval.ms');
    return Math.max(STALE_MS, STALE_INTERVALS * intervalMs);
  }
}

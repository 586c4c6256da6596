import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { TopologyId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import type { AppendFile, RotatingFileOptions } from '../base/rotating-file.ts';
import { BYTES_PER_MB } from '../base/units.ts';
import { MetricsRegistry } from '../metrics/metrics-registry.ts';
import { registerProcessMetrics, type ResourceUse } from '../metrics/process-metrics.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import type { Settings } from '../model/settings.ts';
import type { Network } from '../net/network.ts';
import { PacketServer } from '../net/server.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import { FileSink } from './file-sink.ts';
import { watchMasterLocation } from './master-location.ts';
import { PublisherServer } from './publisher-server.ts';
import type { MetricsRecord, MetricsSink } from './sink.ts';
import { TopologyMasterSink } from './topology-master-sink.ts';

/*
  The metrics manager of one container, put together: publishers on one side, sinks on the other. It
  keeps nothing itself, so its death costs no more than what was published meanwhile; publishers
  wait with their counts until the next one is there.
*/

export interface MetricsManagerOptions {
  /** `metricsmgr-<container>`. */
  readonly id: string;
  readonly topologyId: TopologyId;
  readonly topology: LogicalTopology;
  readonly token: string;
  readonly host: string;
  readonly port: number;
  readonly logDirectory: string;
  readonly settings: Settings;
  readonly stateManager: StateManager;
  readonly network: Network;
  readonly openAppendFile: (options: RotatingFileOptions) => AppendFile;
  readonly resourceUse: () => ResourceUse;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const COMPONENT = '__metricsmgr__';

export class MetricsManager {
  readonly #options: MetricsManagerOptions;
  readonly #registry = new MetricsRegistry();
  /** What has to be closed, in this order. */
  readonly #closers: (() => void | Promise<void>)[] = [];
  #sinks: readonly MetricsSink[] = [];
  #server: PacketServer | undefined;

  constructor(options: MetricsManagerOptions) {
    this.#options = options;
    registerProcessMetrics(this.#registry, options.clock, options.resourceUse);
  }

  get port(): number | undefined {
    return this.#server?.address.port;
  }

  /**
   * Resolves when publishers can connect.
   *
   * @throws EngineError PORT_IN_USE, or FILE_FAILED when the metrics file cannot be opened.
   */
  async start(): Promise<void> {
    const { host, port, settings, clock, logger } = this.#options;
    const master = this.#createMasterSink();
    this.#sinks = [this.#createFileSink(), master];
    for (const sink of this.#sinks) this.#closers.push(() => sink.close());
    const publishers = new PublisherServer({
      ...this.#options,
      registry: this.#registry,
      onRecord: (record) => this.#deliver(record),
    });
    const server = await PacketServer.listen({
      ...this.#options,
      address: { host, port },
      handlers: publishers.handlers,
      packetBytesMax: settings.get('heron.metricsmgr.network.options.maximum.packetsize.bytes'),
    });
    this.#server = server;
    this.#closers.unshift(() => server.close());
    const intervalMs = settings.get('heron.metrics.export.interval.ms');
    const timer = clock.every(intervalMs, () => this.#publishOwn());
    this.#closers.unshift(() => timer.cancel());
    logger.info('the metrics manager serves', { port: this.port });
  }

  /** Publishes its own last numbers and ends everything but the state manager. Idempotent. */
  async close(): Promise<void> {
    if (this.#closers.length > 0) this.#publishOwn();
    for (const close of this.#closers.splice(0)) await close();
  }

  #createFileSink(): FileSink {
    const { id, logDirectory, settings, openAppendFile } = this.#options;
    const file = openAppendFile({
      file: join(logDirectory, `${id}-metrics.jsonl`),
      bytesMax: settings.get('heron.logging.maximum.size.mb') * BYTES_PER_MB,
      filesMax: settings.get('heron.logging.maximum.files'),
    });
    return new FileSink(file, this.#registry.counter('file-sink/dropped-count'));
  }

  #createMasterSink(): TopologyMasterSink {
    const { topology, settings } = this.#options;
    const reconnectMs = settings.get('heron.instance.reconnect.metricsmgr.interval.ms');
    const dropped = this.#registry.counter('tmanager-sink/dropped-count');
    const sink = new TopologyMasterSink({ ...this.#options, reconnectMs, dropped });
    const watch = watchMasterLocation(
      { ...this.#options, topologyName: topology.name },
      (master) => {
        this.#registry.counter('new-tmanager-location').add(1);
        sink.retarget(master);
      },
    );
    this.#closers.push(() => watch.close());
    return sink;
  }

  #deliver(record: MetricsRecord): void {
    for (const sink of this.#sinks) {
      sink.accept(record);
      this.#registry.counter(`${sink.name}/metrics-count`).add(record.metrics.length);
      this.#registry.counter(`${sink.name}/exceptions-count`).add(record.exceptions.length);
      this.#registry.counter(`${sink.name}/record-process-count`).add(1);
    }
  }

  #publishOwn(): void {
    const { host: hostname, id: instance, clock } = this.#options;
    const source = { hostname, component: COMPONENT, instance };
    const metrics = this.#registry.collect();
    this.#deliver({ source, atMs: clock.wallNow(), metrics, exceptions: [] });
  }
}

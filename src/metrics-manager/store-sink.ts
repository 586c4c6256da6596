import { BoundedQueue } from '../base/bounded-queue.ts';
import type { Clock, Timer } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { aggregationOf, keepsHistogram } from '../metrics/aggregation.ts';
import { encodeHistogram } from '../metrics/histogram-bytes.ts';
import { ReconnectingClient } from '../net/client.ts';
import { MessageHandlers } from '../net/message-handlers.ts';
import type { Address, Network } from '../net/network.ts';
import { PublishMetricsToMaster, type ValueOf } from '../wire/messages.ts';
import { wireKindOf } from '../wire/metric-kind.ts';
import type { MetricsRecord, MetricsSink, SinkCounters } from './sink.ts';

/*
  Passes on to the topology master, or to the metrics cache, what these keep: metrics of a known
  kind, their distributions, and all exceptions. They say nothing back.

  Q1. At most QUEUE_BYTES_MAX wait for a store that is away; then the oldest record goes (N1).
  Q2. At most SOCKET_BYTES_MAX wait in the connection of a store that does not read; the rest stays
      in the queue, where it can still be dropped.
*/

type Message = ValueOf<typeof PublishMetricsToMaster>;

export interface StoreSinkOptions {
  readonly network: Network;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** `tmanager-sink` or `metricscache-sink`, as Heron has it. */
  readonly name: string;
  /** For log lines: `topology master`. */
  readonly peer: string;
  readonly reconnectMs: number;
  readonly counters: SinkCounters;
  readonly queueBytesMax?: number;
}

/** An hour of a container with a hundred instances, at some kilobytes a minute each. */
const QUEUE_BYTES_MAX = 16 * 1024 * 1024;
const SOCKET_BYTES_MAX = 256 * 1024;
const DRAIN_PERIOD_MS = 1_000;
/** A store sends nothing. */
const PACKET_BYTES_MAX = 1024;
/** A store that stays away is looked for less and less often, up to this factor. */
const PATIENCE = 8;

interface Queued {
  readonly message: Message;
  readonly items: number;
}

export class StoreSink implements MetricsSink {
  readonly name: string;
  readonly #queue: BoundedQueue<Queued>;
  readonly #client: ReconnectingClient;
  readonly #drains: Timer;
  readonly #counters: SinkCounters;

  constructor(options: StoreSinkOptions) {
    const { network, clock, random, logger, reconnectMs, peer } = options;
    this.name = options.name;
    this.#counters = options.counters;
    this.#queue = new BoundedQueue(options.queueBytesMax ?? QUEUE_BYTES_MAX);
    this.#client = new ReconnectingClient({
      network,
      clock,
      random,
      logger,
      peer,
      handlers: new MessageHandlers(),
      packetBytesMax: PACKET_BYTES_MAX,
      backoffMinMs: reconnectMs,
      backoffMaxMs: reconnectMs * PATIENCE,
      onConnected: () => void clock.soon(() => this.#drain()),
    });
    this.#drains = clock.every(DRAIN_PERIOD_MS, () => this.#drain());
  }

  get queuedRecords(): number {
    return this.#queue.length;
  }

  get queuedBytes(): number {
    return this.#queue.bytes;
  }

  /** Where the store is now; undefined while there is none. */
  retarget(store: Address | undefined): void {
    this.#client.retarget(store);
  }

  accept(record: MetricsRecord): void {
    const message = messageOf(record);
    const { metrics, exceptions, histograms } = message;
    const items = metrics.length + exceptions.length + histograms.length;
    if (items === 0) return;
    const bytes = PublishMetricsToMaster.encode(message).length;
    while (!this.#queue.push({ message, items }, bytes)) {
      const oldest = this.#queue.shift();
      this.#counters.dropped.add(oldest?.items ?? items);
      if (oldest === undefined) return; // Larger than the whole queue.
    }
    this.#drain();
  }

  async close(): Promise<void> {
    this.#drains.cancel();
    this.#drain();
    this.#client.close();
  }

  #drain(): void {
    const { connection } = this.#client;
    if (connection === undefined) return;
    while (connection.queuedBytes < SOCKET_BYTES_MAX) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      if (connection.send(PublishMetricsToMaster, next.message)) this.#counters.flushed.add(1);
      else this.#counters.dropped.add(next.items);
    }
  }
}

function messageOf({ source, atMs, metrics, exceptions, histograms = [] }: MetricsRecord): Message {
  const { component: componentName, instance: instanceId, hostname } = source;
  const timestamp = BigInt(atMs);
  return PublishMetricsToMaster.create({
    metrics: metrics
      .filter(({ name, kind }) => aggregationOf(name, kind) !== undefined)
      .map((metric) => {
        const { name, value } = metric;
        return { componentName, instanceId, name, value, timestamp, ...wireKindOf(metric) };
      }),
    histograms: histograms
      .filter(({ name }) => keepsHistogram(name))
      .map(({ name, histogram }) => {
        return { componentName, instanceId, name, buckets: encodeHistogram(histogram) };
      }),
    exceptions: exceptions.map((exception) => ({
      componentName,
      instanceId,
      hostname,
      stacktrace: exception.stackTrace,
      firsttime: exception.firstTime,
      lasttime: exception.lastTime,
      count: exception.count,
      logging: exception.logging,
    })),
  });
}

import { BoundedQueue } from '../base/bounded-queue.ts';
import type { Clock, Timer } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { aggregationOf } from '../metrics/aggregation.ts';
import type { Counter } from '../metrics/metrics-registry.ts';
import { ReconnectingClient } from '../net/client.ts';
import { MessageHandlers } from '../net/message-handlers.ts';
import type { Address, Network } from '../net/network.ts';
import { PublishMetricsToMaster, type ValueOf } from '../wire/messages.ts';
import type { MetricsRecord, MetricsSink } from './sink.ts';

/*
  Passes on to the topology master what it keeps: metrics of a known kind, and all exceptions. The
  master says nothing back.

  Q1. At most QUEUE_BYTES_MAX wait for a master that is away; then the oldest record goes (N1).
  Q2. At most SOCKET_BYTES_MAX wait in the connection of a master that does not read; the rest stays
      in the queue, where it can still be dropped.
*/

type Message = ValueOf<typeof PublishMetricsToMaster>;

export interface TopologyMasterSinkOptions {
  readonly network: Network;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly reconnectMs: number;
  /** Counts the metrics and exceptions that were lost. */
  readonly dropped: Counter;
  readonly queueBytesMax?: number;
}

/** An hour of a container with a hundred instances, at some kilobytes a minute each. */
const QUEUE_BYTES_MAX = 16 * 1024 * 1024;
const SOCKET_BYTES_MAX = 256 * 1024;
const DRAIN_PERIOD_MS = 1_000;
/** The master sends nothing. */
const PACKET_BYTES_MAX = 1024;
/** A master that stays away is looked for less and less often, up to this factor. */
const PATIENCE = 8;

interface Queued {
  readonly message: Message;
  readonly items: number;
}

export class TopologyMasterSink implements MetricsSink {
  readonly name = 'tmanager-sink';
  readonly #queue: BoundedQueue<Queued>;
  readonly #client: ReconnectingClient;
  readonly #drains: Timer;
  readonly #dropped: Counter;

  constructor(options: TopologyMasterSinkOptions) {
    const { network, clock, random, logger, reconnectMs } = options;
    this.#dropped = options.dropped;
    this.#queue = new BoundedQueue(options.queueBytesMax ?? QUEUE_BYTES_MAX);
    this.#client = new ReconnectingClient({
      network,
      clock,
      random,
      logger,
      peer: 'topology master',
      handlers: new MessageHandlers(),
      packetBytesMax: PACKET_BYTES_MAX,
      backoffMinMs: reconnectMs,
      backoffMaxMs: reconnectMs * PATIENCE,
      onConnected: () => void clock.soon(() => this.#drain()),
    });
    this.#drains = clock.every(DRAIN_PERIOD_MS, () => this.#drain());
  }

  get queuedBytes(): number {
    return this.#queue.bytes;
  }

  /** Where the master is now; undefined while there is none. */
  retarget(master: Address | undefined): void {
    this.#client.retarget(master);
  }

  accept(record: MetricsRecord): void {
    const message = messageOf(record);
    const items = message.metrics.length + message.exceptions.length;
    if (items === 0) return;
    const bytes = PublishMetricsToMaster.encode(message).length;
    while (!this.#queue.push({ message, items }, bytes)) {
      const oldest = this.#queue.shift();
      this.#dropped.add(oldest?.items ?? items);
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
      if (!connection.send(PublishMetricsToMaster, next.message)) this.#dropped.add(next.items);
    }
  }
}

function messageOf({ source, atMs, metrics, exceptions }: MetricsRecord): Message {
  const { component: componentName, instance: instanceId, hostname } = source;
  const timestamp = BigInt(atMs);
  return PublishMetricsToMaster.create({
    metrics: metrics
      .filter(({ name }) => aggregationOf(name) !== undefined)
      .map(({ name, value }) => ({ componentName, instanceId, name, value, timestamp })),
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

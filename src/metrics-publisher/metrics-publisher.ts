import type { Clock, Timer } from '../base/clock.ts';
import { environmentError } from '../base/errors.ts';
import { isoTime } from '../base/iso-time.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import type { CollectedHistogram, Metric } from '../metrics/metrics-registry.ts';
import { ReconnectingClient } from '../net/client.ts';
import { MessageHandlers } from '../net/message-handlers.ts';
import type { Address, Network } from '../net/network.ts';
import type { PacketConnection } from '../net/packet-connection.ts';
import {
  PublishMetrics,
  RegisterMetricPublisher,
  StatusCode,
  type ValueOf,
} from '../wire/messages.ts';
import { wireKindOf } from '../wire/metric-kind.ts';
import { ExceptionTally, type TalliedException } from './exception-tally.ts';
import { inHistogramMessages, inMessages } from './metric-batches.ts';

/*
  A process's side of the conversation with its container's metrics manager: it registers once on
  each connection, then publishes at every interval.

  U1. Nothing waits for it. Without a metrics manager the counts simply go on counting: they are
      collected only when there is a connection to send them on, so none is lost.
  U2. Memory is bounded: counters are single numbers, and exceptions are tallied
      (exception-tally.ts).
*/

/** How a process presents itself; the names are those of Heron's message. */
export interface PublisherIdentity {
  readonly hostname: string;
  /** The task id of an instance, a port of other processes. */
  readonly port: number;
  /** Or `__stmgr__`, `__tmanager__`, `__metricsmgr__`. */
  readonly componentName: string;
  readonly instanceId: string;
  /** -1 for what is no instance. */
  readonly instanceIndex: number;
}

/** What one publication has sent. */
export interface Published {
  readonly packets: number;
  /** Of the messages without their frames. */
  readonly bytes: number;
  readonly metrics: number;
  readonly exceptions: number;
}

export interface MetricsPublisherOptions {
  readonly network: Network;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metricsManager: Address;
  readonly token: string;
  readonly identity: PublisherIdentity;
  /** Hands out each count once, as `MetricsRegistry.collect` does. */
  readonly collect: () => readonly Metric[];
  /** The same for histograms, as `MetricsRegistry.collectHistograms`. */
  readonly collectHistograms?: () => readonly CollectedHistogram[];
  readonly onPublished?: (published: Published) => void;
  /** The setting `heron.metrics.export.interval.ms`. */
  readonly intervalMs: number;
  /** The setting `heron.instance.reconnect.metricsmgr.interval.ms`. */
  readonly reconnectMs: number;
}

/** The metrics manager sends nothing but the answer to the registration. */
const PACKET_BYTES_MAX = 64 * 1024;
const REGISTRATION_TIMEOUT_MS = 5_000;
/** Spans that wait for a metrics manager that does not read. */
const SPAN_BYTES_MAX = 1024 * 1024;
/** A metrics manager that stays away is looked for less and less often, up to this factor. */
const PATIENCE = 8;

export class MetricsPublisher {
  readonly #options: MetricsPublisherOptions;
  readonly #client: ReconnectingClient;
  readonly #exceptions = new ExceptionTally();
  #timer: Timer | undefined;

  constructor(options: MetricsPublisherOptions) {
    this.#options = options;
    const { network, clock, random, logger, reconnectMs } = options;
    this.#client = new ReconnectingClient({
      network,
      clock,
      random,
      logger,
      peer: 'metrics manager',
      handlers: new MessageHandlers(),
      packetBytesMax: PACKET_BYTES_MAX,
      backoffMinMs: reconnectMs,
      backoffMaxMs: reconnectMs * PATIENCE,
      onConnected: (connection) => this.#register(connection),
    });
  }

  /** Begins to connect and to publish; called once. */
  start(): void {
    this.#client.retarget(this.#options.metricsManager);
    this.#timer = this.#options.clock.every(this.#options.intervalMs, () => this.publish());
  }

  /** Notes an exception of user code for the next publication. */
  addException(stackTrace: string): void {
    this.#exceptions.add(stackTrace, this.#options.clock.wallNow());
  }

  /** Publishes now; false when there is no connection, and then nothing is lost (U1). */
  publish(): boolean {
    const { connection } = this.#client;
    if (connection === undefined) return false;
    const { exceptions, dropped } = this.#exceptions.take();
    const metrics = [...this.#options.collect()];
    if (dropped > 0) {
      metrics.push({ name: 'dropped_exceptions_count', value: String(dropped), kind: 'count' });
    }
    const histograms = this.#options.collectHistograms?.() ?? [];
    let packets = 0;
    let bytes = 0;
    for (const message of messagesOf({ metrics, histograms, exceptions })) {
      connection.send(PublishMetrics, message);
      packets += 1;
      bytes += PublishMetrics.encode(message).length;
    }
    const count = metrics.length + histograms.length;
    this.#options.onPublished?.({ packets, bytes, metrics: count, exceptions: exceptions.length });
    return true;
  }

  /** Hands on finished spans; false when there is no connection, and then they are lost. */
  publishSpans(spans: readonly string[]): boolean {
    const { connection } = this.#client;
    if (connection === undefined || connection.queuedBytes > SPAN_BYTES_MAX) return false;
    return connection.send(PublishMetrics, PublishMetrics.create({ spans: [...spans] }));
  }

  /** Publishes what is left and ends. Idempotent. */
  close(): void {
    this.#timer?.cancel();
    this.publish();
    this.#client.close();
  }

  async #register(connection: PacketConnection): Promise<void> {
    const { identity, token } = this.#options;
    const request = RegisterMetricPublisher.request.create({ publisher: identity, token });
    const timeout = { timeoutMs: REGISTRATION_TIMEOUT_MS };
    const { status } = await connection.request(RegisterMetricPublisher, request, timeout);
    if (status?.status === StatusCode.OK) return;
    const reason = status?.message ?? 'without a reason';
    throw environmentError('NOT_AUTHORIZED', `the metrics manager refused: ${reason}`, {
      retryable: true,
    });
  }
}

function* messagesOf({
  metrics,
  histograms,
  exceptions,
}: {
  readonly metrics: readonly Metric[];
  readonly histograms: readonly CollectedHistogram[];
  readonly exceptions: readonly TalliedException[];
}): Generator<ValueOf<typeof PublishMetrics>> {
  for (const part of inMessages(metrics)) {
    const data = part.map((metric) => {
      const { name, value } = metric;
      return { name, value, ...wireKindOf(metric) };
    });
    yield PublishMetrics.create({ metrics: data });
  }
  for (const part of inHistogramMessages(histograms)) {
    yield PublishMetrics.create({ histograms: [...part] });
  }
  if (exceptions.length === 0) return;
  const records = exceptions.map(({ stackTrace, firstAtMs, lastAtMs, count }) => ({
    stacktrace: stackTrace,
    firsttime: isoTime(firstAtMs),
    lasttime: isoTime(lastAtMs),
    count,
    logging: '',
  }));
  yield PublishMetrics.create({ exceptions: records });
}

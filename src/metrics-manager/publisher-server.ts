import type { Clock } from '../base/clock.ts';
import { environmentError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { decodeHistogram } from '../metrics/histogram-bytes.ts';
import type { MetricsRegistry } from '../metrics/metrics-registry.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import { MessageHandlers } from '../net/message-handlers.ts';
import type { PacketConnection } from '../net/packet-connection.ts';
import {
  MetricsCacheMoved,
  PublishMetrics,
  RegisterMetricPublisher,
  StatusCode,
  TopologyMasterMoved,
  type ValueOf,
} from '../wire/messages.ts';
import { metricOf } from '../wire/metric-kind.ts';
import { publisherRefusal } from './publisher-decision.ts';
import type { MetricsRecord, MetricsSource } from './sink.ts';

/*
  The conversation with the processes of the container:

    MetricPublisherRegisterRequest →     first on a connection, once
    ← MetricPublisherRegisterResponse
    MetricPublisherPublishMessage →      at each interval; without a registration it is ignored

  Where the topology master is, this process learns from the state manager, so what Heron's
  stream managers tell about that is only counted.
*/

type RegisterRequest = ValueOf<typeof RegisterMetricPublisher.request>;
type RegisterResponse = ValueOf<typeof RegisterMetricPublisher.response>;

export interface PublisherServerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly topology: LogicalTopology;
  readonly token: string;
  /** Gets the counters, under Heron's names. */
  readonly registry: MetricsRegistry;
  readonly onRecord: (record: MetricsRecord) => void;
  /** Gets records with spans and nothing else. */
  readonly onSpans: (record: MetricsRecord) => void;
}

export class PublisherServer {
  readonly handlers: MessageHandlers;
  readonly #options: PublisherServerOptions;
  readonly #publishers = new Map<PacketConnection, MetricsSource>();

  constructor(options: PublisherServerOptions) {
    this.#options = options;
    const count = (name: string): void => options.registry.counter(name).add(1);
    this.handlers = new MessageHandlers()
      .onRequest(RegisterMetricPublisher, (request, from) => this.#handleRegister(request, from))
      .on(PublishMetrics, (message, from) => this.#handlePublish(message, from))
      .on(TopologyMasterMoved, () => count('tmanager-location-received'))
      .on(MetricsCacheMoved, () => count('metricscache-location-received'));
  }

  #handleRegister(request: RegisterRequest, connection: PacketConnection): RegisterResponse {
    const { logger, registry, topology, token: ownToken } = this.#options;
    registry.counter('new-register-request').add(1);
    const source = sourceOf(request);
    const refusal = publisherRefusal({
      component: source.component,
      token: request.token === '' ? undefined : request.token,
      isRegistered: this.#publishers.has(connection),
      topology,
      ownToken,
    });
    if (refusal !== undefined) {
      logger.warn('a publisher is refused', { ...source, reason: refusal });
      const status = { status: StatusCode.NOTOK, message: refusal };
      return RegisterMetricPublisher.response.create({ status });
    }
    this.#publishers.set(connection, source);
    connection.onClose(() => {
      this.#publishers.delete(connection);
      registry.counter('close-publisher').add(1);
    });
    return RegisterMetricPublisher.response.create({ status: { status: StatusCode.OK } });
  }

  #handlePublish(message: ValueOf<typeof PublishMetrics>, connection: PacketConnection): void {
    const source = this.#publishers.get(connection);
    if (source === undefined) return;
    const { clock, registry, onRecord, onSpans } = this.#options;
    const { spans } = message;
    if (spans.length > 0) {
      registry.counter('spans-received').add(spans.length);
      onSpans({ source, atMs: clock.wallNow(), metrics: [], exceptions: [], spans });
      return;
    }
    registry.counter('metrics-received').add(message.metrics.length);
    registry.counter('exceptions-received').add(message.exceptions.length);
    const histograms = message.histograms.flatMap(({ name, buckets }) => {
      const histogram = decodeHistogram(buckets);
      return histogram === undefined ? [] : [{ name, histogram }];
    });
    onRecord({
      source,
      atMs: clock.wallNow(),
      metrics: message.metrics.map(metricOf),
      ...(histograms.length > 0 && { histograms }),
      exceptions: message.exceptions.map((exception) => ({
        stackTrace: exception.stacktrace,
        firstTime: exception.firsttime,
        lastTime: exception.lasttime,
        count: exception.count,
        logging: exception.logging,
      })),
    });
  }
}

function sourceOf({ publisher }: RegisterRequest): MetricsSource {
  if (publisher === undefined) {
    throw environmentError('PACKET_MALFORMED', 'a registration without a publisher');
  }
  const { hostname, componentName: component, instanceId: instance } = publisher;
  return { hostname, component, instance };
}

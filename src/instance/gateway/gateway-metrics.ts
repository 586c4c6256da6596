import type { Clock } from '../../base/clock.ts';
import {
  type CollectedHistogram,
  type Metric,
  MetricsRegistry,
} from '../../metrics/metrics-registry.ts';
import type { Published } from '../../metrics-publisher/metrics-publisher.ts';
import { registerProcessMetrics, type ResourceUse } from '../../metrics/process-metrics.ts';
import { decodeMetricsFrame } from '../metrics-frame.ts';
import type { GatewayPorts } from './gateway-ports.ts';
import type { Inbound } from './inbound.ts';
import type { Outbound } from './outbound.ts';

export interface GatewayMetricsOptions {
  readonly inbound: Inbound;
  readonly outbound: Outbound;
  readonly ports: GatewayPorts;
  readonly clock: Clock;
  readonly resourceUse: () => ResourceUse;
  /** Takes finished spans of the task; false: they are lost. */
  readonly onSpans: (spans: readonly string[]) => boolean;
}

/** The metrics of an instance: what its task counts, what its gateway moves, and the process. */
export class GatewayMetrics {
  readonly #registry = new MetricsRegistry();
  readonly #inbound: Inbound;
  readonly #outbound: Outbound;
  readonly #ports: GatewayPorts;
  readonly #onSpans: GatewayMetricsOptions['onSpans'];

  constructor(options: GatewayMetricsOptions) {
    const { inbound, outbound, ports, clock, resourceUse } = options;
    this.#onSpans = options.onSpans;
    this.#inbound = inbound;
    this.#outbound = outbound;
    this.#ports = ports;
    registerProcessMetrics(this.#registry, clock, resourceUse);
    this.#registry.gauge('__gateway-in-stream-queue-bytes', () => inbound.outstandingBytes);
    this.#registry.gauge('__gateway-out-stream-queue-bytes', () => ports.dataOut.heldBytes);
  }

  /** Takes over what the task has reported. */
  pump(): void {
    const { metricsOut } = this.#ports;
    while (metricsOut.next()) {
      const { bytes, start, end } = metricsOut;
      const frame = decodeMetricsFrame(bytes.subarray(start, end));
      metricsOut.release();
      this.#registry.absorb(frame);
      const { spans } = frame;
      if (spans.length > 0 && !this.#onSpans(spans)) {
        this.#registry.counter('__spans-dropped-count').add(spans.length);
      }
    }
  }

  collect(): readonly Metric[] {
    this.pump();
    const { setsReceived, bytesReceived, ringFull } = this.#inbound.takeCounts();
    const { setsSent, bytesSent } = this.#outbound.takeCounts();
    this.#registry.counter('__gateway-received-packets-count').add(setsReceived);
    this.#registry.counter('__gateway-received-packets-size').add(bytesReceived);
    this.#registry.counter('__gateway-sent-packets-count').add(setsSent);
    this.#registry.counter('__gateway-sent-packets-size').add(bytesSent);
    this.#registry.counter('__gateway-in-queue-full-count').add(ringFull);
    return this.#registry.collect();
  }

  /** Those of the task that `collect` has taken over, and so to be called after it. */
  collectHistograms(): readonly CollectedHistogram[] {
    return this.#registry.collectHistograms();
  }

  /** What has been published; shows in the next publication. */
  addPublished({ packets, bytes, metrics, exceptions }: Published): void {
    this.#registry.counter('__gateway-sent-metrics-packets-count').add(packets);
    this.#registry.counter('__gateway-sent-metrics-size').add(bytes);
    this.#registry.counter('__gateway-sent-metrics-count').add(metrics);
    this.#registry.counter('__gateway-sent-exceptions-count').add(exceptions);
  }
}

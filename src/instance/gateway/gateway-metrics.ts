import type { Clock } from '../../base/clock.ts';
import { type Metric, MetricsRegistry } from '../../metrics/metrics-registry.ts';
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
}

/** The metrics of an instance: what its task counts, what its gateway moves, and the process. */
export class GatewayMetrics {
  readonly #registry = new MetricsRegistry();
  readonly #inbound: Inbound;
  readonly #outbound: Outbound;
  readonly #ports: GatewayPorts;

  constructor({ inbound, outbound, ports, clock, resourceUse }: GatewayMetricsOptions) {
    this.#inbound = inbound;
    this.#outbound = outbound;
    this.#ports = ports;
    registerProcessMetrics(this.#registry, clock, resourceUse);
  }

  /** Takes over what the task has reported. */
  pump(): void {
    const { metricsOut } = this.#ports;
    while (metricsOut.next()) {
      const { bytes, start, end } = metricsOut;
      this.#registry.absorb(decodeMetricsFrame(bytes.subarray(start, end)));
      metricsOut.release();
    }
  }

  collect(): readonly Metric[] {
    this.pump();
    const { setsReceived, bytesReceived } = this.#inbound.takeCounts();
    const { setsSent, bytesSent } = this.#outbound.takeCounts();
    this.#registry.counter('__gateway-received-packets-count').add(setsReceived);
    this.#registry.counter('__gateway-received-packets-size').add(bytesReceived);
    this.#registry.counter('__gateway-sent-packets-count').add(setsSent);
    this.#registry.counter('__gateway-sent-packets-size').add(bytesSent);
    return this.#registry.collect();
  }
}

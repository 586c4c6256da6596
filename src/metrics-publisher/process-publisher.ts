import type { Settings } from '../model/settings.ts';
import {
  MetricsPublisher,
  type MetricsPublisherOptions,
  type PublisherIdentity,
} from './metrics-publisher.ts';

export interface ProcessPublisherOptions
  extends Pick<
    MetricsPublisherOptions,
    | 'network'
    | 'clock'
    | 'random'
    | 'logger'
    | 'token'
    | 'collect'
    | 'collectHistograms'
    | 'onPublished'
  > {
  /** The container's own address: that of the process and of its metrics manager. */
  readonly host: string;
  readonly metricsManagerPort: number;
  readonly identity: Omit<PublisherIdentity, 'hostname'>;
  readonly settings: Settings;
}

/** The publisher of a process, to the metrics manager of its container. */
export function createProcessPublisher(options: ProcessPublisherOptions): MetricsPublisher {
  const { host, metricsManagerPort, identity, settings } = options;
  return new MetricsPublisher({
    ...options,
    metricsManager: { host, port: metricsManagerPort },
    identity: { hostname: host, ...identity },
    intervalMs: settings.get('heron.metrics.export.interval.ms'),
    reconnectMs: settings.get('heron.instance.reconnect.metricsmgr.interval.ms'),
  });
}

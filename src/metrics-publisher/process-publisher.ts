import type { MetricsRegistry } from '../metrics/metrics-registry.ts';
import type { Settings } from '../model/settings.ts';
import { MetricsPublisher, type MetricsPublisherOptions } from './metrics-publisher.ts';

export interface ProcessPublisherOptions
  extends Pick<MetricsPublisherOptions, 'network' | 'clock' | 'random' | 'logger' | 'token'> {
  /** The container's own address. */
  readonly host: string;
  readonly metricsManagerPort: number;
  /** The process's port: with the host, what tells two processes of one name apart. */
  readonly port: number;
  /** `__stmgr__`, `__tmanager__`. */
  readonly componentName: string;
  readonly instanceId: string;
  readonly registry: MetricsRegistry;
  readonly settings: Settings;
}

/** The publisher of the numbers that a process, which is no instance, has about itself. */
export function createProcessPublisher(options: ProcessPublisherOptions): MetricsPublisher {
  const { host, port, metricsManagerPort, componentName, instanceId, registry, settings } = options;
  return new MetricsPublisher({
    ...options,
    metricsManager: { host, port: metricsManagerPort },
    identity: { hostname: host, port, componentName, instanceId, instanceIndex: -1 },
    collect: () => registry.collect(),
    intervalMs: settings.get('heron.metrics.export.interval.ms'),
    reconnectMs: settings.get('heron.instance.reconnect.metricsmgr.interval.ms'),
  });
}

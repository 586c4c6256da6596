import { MetricsRegistry } from '../metrics/metrics-registry.ts';
import { registerProcessMetrics } from '../metrics/process-metrics.ts';
import {
  MetricsPublisher,
  type MetricsPublisherOptions,
} from '../metrics-publisher/metrics-publisher.ts';
import type { Settings } from '../model/settings.ts';

export interface MasterPublisherOptions
  extends Pick<MetricsPublisherOptions, 'network' | 'clock' | 'random' | 'logger' | 'token'> {
  readonly host: string;
  readonly serverPort: number;
  readonly metricsManagerPort: number;
  readonly settings: Settings;
  /** Numbers that the master was told and had no room for. */
  readonly dropped: () => number;
}

/** The publisher of the master's numbers about itself. */
export function createMasterPublisher(options: MasterPublisherOptions): MetricsPublisher {
  const { host, serverPort, metricsManagerPort, clock, settings, dropped } = options;
  const registry = new MetricsRegistry();
  registerProcessMetrics(registry, clock);
  registry.gauge('__metrics-dropped', dropped);
  return new MetricsPublisher({
    ...options,
    metricsManager: { host, port: metricsManagerPort },
    identity: {
      hostname: host,
      port: serverPort,
      componentName: '__tmanager__',
      instanceId: '0',
      instanceIndex: -1,
    },
    collect: () => registry.collect(),
    intervalMs: settings.get('heron.metrics.export.interval.ms'),
    reconnectMs: settings.get('heron.instance.reconnect.metricsmgr.interval.ms'),
  });
}

import { MetricsRegistry } from '../metrics/metrics-registry.ts';
import { registerProcessMetrics, type ResourceUse } from '../metrics/process-metrics.ts';
import type { MetricsPublisher } from '../metrics-publisher/metrics-publisher.ts';
import {
  createProcessPublisher,
  type ProcessPublisherOptions,
} from '../metrics-publisher/process-publisher.ts';

export interface MasterPublisherOptions
  extends Omit<ProcessPublisherOptions, 'identity' | 'collect'> {
  readonly serverPort: number;
  readonly resourceUse: () => ResourceUse;
  /** Numbers that the master was told and had no room for. */
  readonly dropped: () => number;
}

/** The publisher of the master's numbers about itself. */
export function createMasterPublisher(options: MasterPublisherOptions): MetricsPublisher {
  const registry = new MetricsRegistry();
  registerProcessMetrics(registry, options.clock, options.resourceUse);
  registry.gauge('__metrics-dropped', options.dropped);
  return createProcessPublisher({
    ...options,
    identity: {
      port: options.serverPort,
      componentName: '__tmanager__',
      instanceId: '0',
      instanceIndex: -1,
    },
    collect: () => registry.collect(),
  });
}

import { MetricsRegistry } from '../metrics/metrics-registry.ts';
import { registerProcessMetrics, type ResourceUse } from '../metrics/process-metrics.ts';
import type { InstanceAddress, PhysicalPlan } from '../model/physical-plan.ts';
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
  /** The plan in force; undefined before the first. */
  readonly plan: () => PhysicalPlan | undefined;
  /** How many stream managers of the packing plan are not registered. */
  readonly absent: () => number;
}

/** The publisher of the master's numbers about itself. */
export function createMasterPublisher(options: MasterPublisherOptions): MetricsPublisher {
  const registry = new MetricsRegistry();
  registerProcessMetrics(registry, options.clock, options.resourceUse);
  registry.gauge('__metrics-dropped', options.dropped);
  registry.gauge('__absent-stream-managers', options.absent);
  registry.gauge('__tasks', () => options.plan()?.instances.length ?? 0);
  const isRetiring = (instance: InstanceAddress): boolean => instance.isRetiring === true;
  registry.gauge(
    '__retiring-tasks',
    () => options.plan()?.instances.filter(isRetiring).length ?? 0,
  );
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

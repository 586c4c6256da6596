import type { Clock } from '../base/clock.ts';
import type { MetricsRegistry } from './metrics-registry.ts';

export interface ResourceUse {
  readonly cpuUserUs: number;
  readonly cpuSystemUs: number;
  readonly residentBytes: number;
}

/** What every process tells of itself, under the names of Heron's `__process` family. */
export function registerProcessMetrics(
  registry: MetricsRegistry,
  clock: Clock,
  resourceUse: () => ResourceUse,
): void {
  const startedAtMs = clock.now();
  registry.gauge('__process/__cpu_user_usec', () => resourceUse().cpuUserUs);
  registry.gauge('__process/__cpu_system_usec', () => resourceUse().cpuSystemUs);
  registry.gauge('__process/__uptime_sec', () => Math.floor((clock.now() - startedAtMs) / 1000));
  registry.gauge('__process/__mem_used_bytes', () => resourceUse().residentBytes);
}

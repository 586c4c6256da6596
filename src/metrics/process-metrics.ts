import type { Clock } from '../base/clock.ts';
import type { MetricsRegistry } from './metrics-registry.ts';

/** What every process tells of itself, under the names of Heron's `__process` family. */
export function registerProcessMetrics(registry: MetricsRegistry, clock: Clock): void {
  const startedAtMs = clock.now();
  registry.gauge('__process/__cpu_user_usec', () => process.cpuUsage().user);
  registry.gauge('__process/__cpu_system_usec', () => process.cpuUsage().system);
  registry.gauge('__process/__uptime_sec', () => Math.floor((clock.now() - startedAtMs) / 1000));
  registry.gauge('__process/__mem_used_bytes', () => process.memoryUsage.rss());
}

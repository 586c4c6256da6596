import type { Clock } from '../base/clock.ts';
import type { MetricsRegistry } from './metrics-registry.ts';
import { type RuntimeUse, runtimeMetrics } from './runtime-metrics.ts';

/** What a process takes, with all of its threads. */
export interface ResourceUse {
  readonly cpuUserUs: number;
  readonly cpuSystemUs: number;
  readonly residentBytes: number;
  /** Processors that this process may use; undefined where nobody can say, as with what follows. */
  readonly cores?: number | undefined;
  readonly threads?: number | undefined;
  readonly openFiles?: number | undefined;
  /** Of the main thread, in a process whose main thread does the work. */
  readonly runtime?: RuntimeUse | undefined;
}

const US_PER_MS = 1_000;
const NS_PER_US = 1_000;

/**
 * What every process tells of itself, under the names of Heron's `__process` family, and under
 * those of its `__jvm` family, which Heron's UI asks instances for. All readers ask for what is
 * true at that moment; the load is that of the time since the last collection.
 */
export function registerProcessMetrics(
  registry: MetricsRegistry,
  clock: Clock,
  resourceUse: () => ResourceUse,
): void {
  const startedAtMs = clock.now();
  const uptimeSeconds = (): number => Math.floor((clock.now() - startedAtMs) / 1000);
  let use = resourceUse();
  let atMs = startedAtMs;
  registry.family(() => {
    const before = use;
    const beforeMs = atMs;
    use = resourceUse();
    atMs = clock.now();
    const { cpuUserUs, cpuSystemUs, residentBytes, cores, threads, openFiles, runtime } = use;
    const cpuUs = cpuUserUs + cpuSystemUs;
    const usedUs = cpuUs - before.cpuUserUs - before.cpuSystemUs;
    const load = usedUs / ((atMs - beforeMs) * US_PER_MS * (cores ?? 1));
    return [
      ['__process/__cpu_user_usec', cpuUserUs],
      ['__process/__cpu_system_usec', cpuSystemUs],
      ['__process/__uptime_sec', uptimeSeconds()],
      ['__process/__mem_used_bytes', residentBytes],
      ['__jvm-uptime-secs', uptimeSeconds()],
      ['__jvm-process-cpu-time-nanos', cpuUs * NS_PER_US],
      ['__jvm-process-cpu-load', cores === undefined || atMs === beforeMs ? undefined : load],
      ['__jvm-thread-count', threads],
      ['__jvm-fd-count', openFiles],
      ...(runtime === undefined ? [] : runtimeMetrics(runtime)),
    ];
  });
}

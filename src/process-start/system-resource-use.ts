import type { ResourceUse } from '../metrics/process-metrics.ts';

/** Of the process at hand, with all of its threads. */
export function systemResourceUse(): ResourceUse {
  const { user, system } = process.cpuUsage();
  return { cpuUserUs: user, cpuSystemUs: system, residentBytes: process.memoryUsage.rss() };
}

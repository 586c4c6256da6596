import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { ResourceUse } from '../metrics/process-metrics.ts';

/** Of the fields behind the name in `/proc/self/stat`: `num_threads` (man 5 proc). */
const THREADS_FIELD = 17;

/** Of the process at hand, with all of its threads. */
export function systemResourceUse(): ResourceUse {
  const { user, system } = process.cpuUsage();
  return {
    cpuUserUs: user,
    cpuSystemUs: system,
    residentBytes: process.memoryUsage.rss(),
    cores: availableParallelism(),
    threads: whereKnown(() => {
      const stat = readFileSync('/proc/self/stat', 'latin1');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[THREADS_FIELD]);
    }),
    openFiles: whereKnown(() => readdirSync('/proc/self/fd').length),
  };
}

/** Systems without `/proc` do not tell. */
function whereKnown(read: () => number): number | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

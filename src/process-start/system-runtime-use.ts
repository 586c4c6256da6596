import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { LoopDelay, RuntimeUse } from '../metrics/runtime-metrics.ts';

/** Seldom enough to cost an idle process nothing, often enough to meet what blocks for long. */
const LOOK_MS = 100;
const NS_PER_MS = 1e6;

/** Begins to watch the thread that calls; what it returns reads what has become of it. */
export function watchRuntime(): () => RuntimeUse {
  let collections = 0;
  let collectionMs = 0;
  const collector = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      collections += 1;
      collectionMs += duration;
    }
  });
  collector.observe({ entryTypes: ['gc'] });
  const delays = monitorEventLoopDelay({ resolution: LOOK_MS });
  delays.enable();
  const takeDelay = (): LoopDelay | undefined => {
    if (delays.count === 0) return undefined;
    // What is measured is from one look to the next.
    const delayMs = (ns: number): number => Math.max(0, ns / NS_PER_MS - LOOK_MS);
    const taken = {
      meanMs: delayMs(delays.mean),
      p99Ms: delayMs(delays.percentile(99)),
      maxMs: delayMs(delays.max),
    };
    delays.reset();
    return taken;
  };
  return () => {
    const { heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
    return {
      heapUsedBytes: heapUsed,
      heapCommittedBytes: heapTotal,
      heapMaxBytes: getHeapStatistics().heap_size_limit,
      externalBytes: external + arrayBuffers,
      collections,
      collectionMs,
      loopDelay: takeDelay(),
    };
  };
}

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from './cluster.ts';

/** Published more often than as shipped, so that tests need not wait. */
export const FREQUENT_METRICS = { 'heron.metrics.export.interval.ms': 200 };

interface MetricsLine {
  readonly component: string;
  readonly metrics: Readonly<Record<string, string>>;
}

/**
 * The sum of a counter over all processes of a component (`__stmgr__` are the stream managers) and
 * all its publications so far: each one holds what was counted since the one before.
 */
export function countedSoFar(cluster: Cluster, component: string, metric: string): number {
  const values = linesOf(cluster)
    .filter((line) => line.component === component)
    .map(({ metrics }) => Number(metrics[metric] ?? 0));
  return values.reduce((sum, value) => sum + value, 0);
}

/** The same for all counters whose names begin so, by what follows in the name. */
export function countedByKey(
  cluster: Cluster,
  component: string,
  prefix: string,
): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { metrics } of linesOf(cluster).filter((line) => line.component === component)) {
    for (const [name, value] of Object.entries(metrics)) {
      if (!name.startsWith(prefix)) continue;
      const key = name.slice(prefix.length);
      sums[key] = (sums[key] ?? 0) + Number(value);
    }
  }
  return sums;
}

function linesOf(cluster: Cluster): readonly MetricsLine[] {
  return globSync('topologies/**/*-metrics.jsonl', { cwd: cluster.dataRoot }).flatMap((file) =>
    readFileSync(join(cluster.dataRoot, file), 'utf8')
      .split('\n')
      .slice(0, -1) // The last piece is empty, or half of a line that is being written.
      .map((line) => JSON.parse(line) as MetricsLine),
  );
}

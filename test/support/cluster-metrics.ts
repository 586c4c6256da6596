import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Cluster, PATIENTLY } from './cluster.ts';
import { eventually } from './eventually.ts';

/** Published more often than as shipped, so that tests need not wait. */
export const FREQUENT_METRICS = { 'heron.metrics.export.interval.ms': 200 };

interface MetricsLine {
  readonly component: string;
  readonly instance: string;
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

/** What has been published so far: the last of each metric, by component. */
export function publishedMetrics(
  cluster: Cluster,
): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const published = new Map<string, Map<string, number>>();
  for (const { component, metrics } of linesOf(cluster)) {
    const ofComponent = published.get(component) ?? new Map<string, number>();
    published.set(component, ofComponent);
    for (const [name, value] of Object.entries(metrics)) ofComponent.set(name, Number(value));
  }
  return published;
}

/**
 * Waits until every process of a component has published once more, at least: then the counters
 * hold all that had been counted before the call.
 */
export async function nextPublications(cluster: Cluster, component: string): Promise<void> {
  const before = publications(cluster, component);
  await eventually(() => {
    const now = publications(cluster, component);
    for (const [instance, count] of before) {
      // One of them may have been under way already.
      assert.ok((now.get(instance) ?? 0) >= count + 2, `${instance} publishes nothing`);
    }
  }, PATIENTLY);
}

/** How often each process of a component has published, by its id. */
function publications(cluster: Cluster, component: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { instance } of linesOf(cluster).filter((line) => line.component === component)) {
    counts.set(instance, (counts.get(instance) ?? 0) + 1);
  }
  return counts;
}

function linesOf(cluster: Cluster): readonly MetricsLine[] {
  return globSync('topologies/**/*-metrics.jsonl', { cwd: cluster.dataRoot }).flatMap((file) =>
    readFileSync(join(cluster.dataRoot, file), 'utf8')
      .split('\n')
      .slice(0, -1) // The last piece is empty, or half of a line that is being written.
      .map((line) => JSON.parse(line) as MetricsLine),
  );
}

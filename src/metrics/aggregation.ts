import type { Metric, MetricKind } from './metrics-registry.ts';

/*
  How numbers of one metric from several moments become one.

  A1. The kind that the publisher tells decides. Without one, as from other engines, the beginning
      of the name does: Heron's list of known metrics, then what its names have in common.
  A2. Only metrics of a list, Heron's as a rule, are kept by the topology master and the metrics
      cache; the rest goes to the other sinks. What users count themselves is kept too, which Heron
      does not do: its names never begin with two underscores, except the `__auto__/` of its
      global counters.
*/

export type Aggregation = 'sum' | 'average' | 'last';

const AGGREGATIONS: ReadonlyMap<string, Aggregation> = new Map([
  ['__emit-count', 'sum'],
  ['__execute-count', 'sum'],
  ['__fail-count', 'sum'],
  ['__ack-count', 'sum'],
  ['__complete-latency', 'average'],
  ['__execute-latency', 'average'],
  ['__process-latency', 'average'],
  ['__jvm-uptime-secs', 'last'],
  ['__jvm-process-cpu-load', 'last'],
  ['__jvm-memory-used-mb', 'last'],
  ['__jvm-memory-mb-total', 'last'],
  ['__jvm-gc-collection-time-ms', 'last'],
  ['__server/__time_spent_back_pressure_initiated', 'sum'],
  ['__time_spent_back_pressure_by_compid', 'sum'],
  // Not Heron's, but what `heron status` shows.
  ['__fail-reason/', 'sum'],
  ['__dead-letter-count/', 'sum'],
  ['__pending-acked-count', 'last'],
  // For their percentiles (metrics-store/histogram-log.ts).
  ['__in-queue-latency', 'average'],
  ['__next-tuple-latency', 'average'],
  ['__oldest_tuple_by_compid_ms', 'average'],
  // Not on Heron's list either; the pages of the Tracker show them.
  ['__server/__time_spent_back_pressure_aggr', 'sum'],
  ['__connection_buffer_by_instanceid/', 'last'],
]);

const OF_KIND: Readonly<Record<MetricKind, Aggregation>> = {
  count: 'sum',
  mean: 'average',
  value: 'last',
};

/** What ends in `-count` is one, except where a process reads a total of its runtime's. */
const COUNT = /^__(?!jvm-|py-).*-count(?:\/|$)/;

/** How a metric is kept, or undefined when it is not (A2). */
export function aggregationOf(metric: string, kind?: MetricKind): Aggregation | undefined {
  const known = knownAggregation(metric);
  if (known !== undefined || isOfEngine(metric)) return known;
  return kind === undefined ? 'sum' : OF_KIND[kind];
}

/** What a number is, said by its publisher or told by its name (A1). */
export function kindOf({ name, kind }: Metric): MetricKind {
  if (kind !== undefined) return kind;
  const known = knownAggregation(name);
  if (known === 'average') return 'mean';
  if (known !== undefined) return known === 'sum' ? 'count' : 'value';
  return !isOfEngine(name) || COUNT.test(name) ? 'count' : 'value';
}

/** Whether the topology master and the metrics cache keep a distribution (A2). */
export function keepsHistogram(metric: string): boolean {
  return aggregationOf(metric, 'mean') === 'average';
}

function isOfEngine(metric: string): boolean {
  return metric.startsWith('__') && !metric.startsWith('__auto__/');
}

function knownAggregation(metric: string): Aggregation | undefined {
  if (!isOfEngine(metric)) return undefined;
  for (const [prefix, aggregation] of AGGREGATIONS) {
    if (metric.startsWith(prefix)) return aggregation;
  }
  return undefined;
}

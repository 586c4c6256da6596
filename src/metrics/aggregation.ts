/*
  How numbers of one metric from several moments become one. A metric's kind follows from the
  beginning of its name; only metrics of a known kind are kept by the topology master, the rest
  goes to the other sinks. The list is Heron's default one. What users count themselves is kept too,
  which Heron does not do: its names never begin with two underscores.
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
]);

/** The kind of a metric, or undefined when the topology master does not keep it. */
export function aggregationOf(metric: string): Aggregation | undefined {
  for (const [prefix, aggregation] of AGGREGATIONS) {
    if (metric.startsWith(prefix)) return aggregation;
  }
  return metric.startsWith('__') ? undefined : 'sum';
}

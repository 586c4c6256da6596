import type { Component } from '../../model/logical-topology.ts';

/*
  Which metrics of a component the pages are made of, by their names in full: other metrics that
  begin alike are the same tuples by another key, or not of this plan.
*/

/** A stream that a bolt reads, and what is counted of it. */
export interface InputMetrics {
  readonly from: string;
  readonly stream: string;
  readonly executeCount: string;
}

/** A mean, and the count of what it is the mean of. */
export interface WeighedMetric {
  readonly mean: string;
  readonly count: string;
}

export interface ComponentMetrics {
  readonly emitCounts: readonly string[];
  readonly executeCounts: readonly string[];
  readonly ackCounts: readonly string[];
  readonly failCounts: readonly string[];
  readonly executeLatencies: readonly WeighedMetric[];
  readonly processLatencies: readonly WeighedMetric[];
  readonly completeLatencies: readonly WeighedMetric[];
  /** Only percentiles of these are kept. */
  readonly queueLatencies: readonly string[];
  readonly inputs: readonly InputMetrics[];
}

export const PENDING = '__pending-acked-count';
export const PERCENTILES = ['p50', 'p90', 'p99', 'p999', 'max'] as const;

export function metricsOf(component: Component): ComponentMetrics {
  const outputs = component.outputs.map(({ stream }) => stream);
  const emitCounts = outputs.map((stream) => `__emit-count/${stream}`);
  if (component.kind === 'spout') {
    const completeLatencies = outputs.map((stream) => ({
      mean: `__complete-latency/${stream}`,
      count: `__ack-count/${stream}`,
    }));
    return {
      ...NOTHING,
      emitCounts,
      ackCounts: outputs.map((stream) => `__ack-count/${stream}`),
      failCounts: outputs.map((stream) => `__fail-count/${stream}`),
      completeLatencies,
    };
  }
  // A bolt may read one stream by several groupings; Python's count by stream alone.
  const keys = new Map(
    component.inputs.map(({ component: from, stream }) => [
      component.language === 'python' ? stream : `${from}/${stream}`,
      { from, stream },
    ]),
  );
  const named = (name: string): string[] => [...keys.keys()].map((key) => `${name}/${key}`);
  const weighed = (mean: string, count: string): WeighedMetric[] =>
    [...keys.keys()].map((key) => ({ mean: `${mean}/${key}`, count: `${count}/${key}` }));
  return {
    ...NOTHING,
    emitCounts,
    executeCounts: named('__execute-count'),
    ackCounts: named('__ack-count'),
    failCounts: named('__fail-count'),
    executeLatencies: weighed('__execute-latency', '__execute-count'),
    processLatencies: weighed('__process-latency', '__ack-count'),
    queueLatencies: named('__in-queue-latency'),
    inputs: [...keys].map(([key, { from, stream }]) => ({
      from,
      stream,
      executeCount: `__execute-count/${key}`,
    })),
  };
}

const NOTHING: ComponentMetrics = {
  emitCounts: [],
  executeCounts: [],
  ackCounts: [],
  failCounts: [],
  executeLatencies: [],
  processLatencies: [],
  completeLatencies: [],
  queueLatencies: [],
  inputs: [],
};

export function countsIn(metrics: ComponentMetrics): readonly string[] {
  const { emitCounts, executeCounts, ackCounts, failCounts } = metrics;
  return [...emitCounts, ...executeCounts, ...ackCounts, ...failCounts];
}

export function weighedIn(metrics: ComponentMetrics): readonly WeighedMetric[] {
  const { executeLatencies, processLatencies, completeLatencies } = metrics;
  return [...executeLatencies, ...processLatencies, ...completeLatencies];
}

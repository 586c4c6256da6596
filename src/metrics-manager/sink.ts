import type { Counter, CollectedHistogram, Metric } from '../metrics/metrics-registry.ts';

/** Who published a record. */
export interface MetricsSource {
  readonly hostname: string;
  /** A component of the topology, or `__stmgr__`, `__tmanager__`, `__metricsmgr__`. */
  readonly component: string;
  readonly instance: string;
}

/** An exception of user code; the times are text in the form of the reporter's language. */
export interface ReportedException {
  readonly stackTrace: string;
  readonly firstTime: string;
  readonly lastTime: string;
  readonly count: number;
  readonly logging: string;
}

/** One publication of one process. */
export interface MetricsRecord {
  readonly source: MetricsSource;
  /** Of its arrival, by the wall clock. */
  readonly atMs: number;
  readonly metrics: readonly Metric[];
  readonly exceptions: readonly ReportedException[];
  readonly histograms?: readonly CollectedHistogram[];
  /** Finished spans, in OTLP's JSON form; a record that has some has nothing else. */
  readonly spans?: readonly string[];
}

/**
 * The port to whatever takes the metrics of a container.
 *
 * N1. `accept` returns at once and never throws: a sink that is slow or gone queues within bounds,
 *     then drops the oldest and counts what it dropped. Metrics never hold up anything else.
 * N2. Should it throw after all, the record is that sink's loss and nobody else's (SinkSet).
 */
export interface MetricsSink {
  /** Heads the sink's own counters: `file-sink`. */
  readonly name: string;
  /** How many records wait in it. */
  readonly queuedRecords: number;
  accept(record: MetricsRecord): void;
  /** Hands on what it can and ends, within a second. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** What a sink counts of its own work. */
export interface SinkCounters {
  /** Metrics and exceptions that were lost here. */
  readonly dropped: Counter;
  /** How often it has handed something on. */
  readonly flushed: Counter;
}

/** Metrics, exceptions, histograms and spans of a record together: the unit of what is lost. */
export function itemsOf({
  metrics,
  exceptions,
  histograms = [],
  spans = [],
}: MetricsRecord): number {
  return metrics.length + exceptions.length + histograms.length + spans.length;
}

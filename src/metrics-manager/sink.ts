import type { Metric } from '../metrics/metrics-registry.ts';

/** Who published a record. */
export interface MetricsSource {
  readonly hostname: string;
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
}

/**
 * The port to whatever takes the metrics of a container.
 *
 * N1. `accept` returns at once and never throws: a sink that is slow or gone queues within bounds,
 *     then drops the oldest and counts what it dropped. Metrics never hold up anything else.
 */
export interface MetricsSink {
  /** Heads the sink's own counters: `file-sink`. */
  readonly name: string;
  accept(record: MetricsRecord): void;
  /** Hands on what it can and ends. Idempotent. */
  close(): Promise<void>;
}

import type { Histogram } from './histogram.ts';

/*
  Numbers that a component keeps and the engine publishes; see `TopologyContext.registerMetric`.
  The engine asks each metric twice in an export interval for what has become of it since the last
  time, on the component's own thread. Numbers that are not finite are left out.
*/

/** Where a metric tells its numbers. A `key` gives a number of its own name: `metric/key`. */
export interface MetricReport {
  /** Adds to a count, which starts from zero with each publication. */
  count(amount: number, key?: string): void;
  /** Adds `count` observations with this sum to an average; each publication has its own. */
  mean(sum: number, count: number, key?: string): void;
  /** Adds what a histogram has recorded, which the metric itself then clears. */
  histogram(histogram: Histogram, key?: string): void;
  /** A value as it is now, published until there is another. */
  value(value: number, key?: string): void;
}

/** A metric of a component. Make your own by telling a report what there is to tell. */
export interface UserMetric {
  report(to: MetricReport): void;
}

import { Histogram } from './histogram.ts';
import type { MetricReport, UserMetric } from './user-metric.ts';

/**
 * How often each size of a number was seen since the last publication, from which percentiles are
 * told: the largest, the median, the 99th of a hundred. Those of several tasks add up as if one
 * task had recorded them all.
 *
 * Sizes from 1 to 2^48 are told apart to within 1 part in 64; what is smaller than 1 counts as 0,
 * so choose the unit by the smallest that matters: microseconds or nanoseconds, not seconds. Takes
 * twelve kilobytes.
 *
 * @example
 * ```ts
 * override prepare(context: TopologyContext): void {
 *   this.#sizes = context.registerMetric('answer-bytes', new HistogramMetric());
 * }
 * ```
 */
export class HistogramMetric implements UserMetric {
  readonly #histogram = new Histogram();

  /** Records a number; below 0, or not finite, it counts as 0. Costs about 10 ns. */
  record(value: number): void {
    this.#histogram.record(value);
  }

  report(to: MetricReport): void {
    this.#take((histogram) => to.histogram(histogram));
  }

  /** For metrics that are made of several of these. */
  reportAs(to: MetricReport, key: string): void {
    this.#take((histogram) => to.histogram(histogram, key));
  }

  #take(tell: (histogram: Histogram) => void): void {
    if (this.#histogram.count === 0) return;
    tell(this.#histogram);
    this.#histogram.clear();
  }
}

/** Histograms under names. */
export class MultiHistogramMetric implements UserMetric {
  readonly #histograms = new Map<string, HistogramMetric>();

  /** The histogram of a name; the same one at every call. */
  scope(key: string): HistogramMetric {
    const known = this.#histograms.get(key);
    if (known !== undefined) return known;
    const made = new HistogramMetric();
    this.#histograms.set(key, made);
    return made;
  }

  report(to: MetricReport): void {
    for (const [key, histogram] of this.#histograms) histogram.reportAs(to, key);
  }
}

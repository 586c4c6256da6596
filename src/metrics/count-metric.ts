import type { MetricReport, UserMetric } from './user-metric.ts';

/**
 * Counts how often something happens. Each publication carries what was counted since the last.
 *
 * @example
 * ```ts
 * override prepare(context: TopologyContext): void {
 *   this.#empty = context.registerMetric('empty-lines', new CountMetric());
 * }
 * ```
 */
export class CountMetric implements UserMetric {
  #count = 0;

  incr(by = 1): void {
    this.#count += by;
  }

  report(to: MetricReport): void {
    to.count(this.#takeCount());
  }

  /** For metrics that are made of several of these. */
  reportAs(to: MetricReport, key: string): void {
    to.count(this.#takeCount(), key);
  }

  #takeCount(): number {
    const count = this.#count;
    this.#count = 0;
    return count;
  }
}

/** Counts several things under names: `errors/parse`, `errors/send`. */
export class MultiCountMetric implements UserMetric {
  readonly #counts = new Map<string, CountMetric>();

  /** The counter of a name; the same one at every call. */
  scope(key: string): CountMetric {
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const made = new CountMetric();
    this.#counts.set(key, made);
    return made;
  }

  report(to: MetricReport): void {
    for (const [key, count] of this.#counts) count.reportAs(to, key);
  }
}

/** Counts without ever starting again: each publication carries the total of this process. */
export class CumulativeCountMetric implements UserMetric {
  #total = 0;

  incr(by = 1): void {
    this.#total += by;
  }

  report(to: MetricReport): void {
    to.value(this.#total);
  }
}

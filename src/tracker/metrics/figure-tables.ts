import type { SeriesRow } from '../../topology-client/series.ts';
import type { WeighedMetric } from './component-metrics.ts';

/*
  Numbers of one component by metric, in columns: one place for each of its tasks, or for each
  minute. NaN: not known.
*/
export class FigureTables {
  readonly #size: number;
  readonly #byMetric = new Map<string, Float64Array>();

  constructor(size: number) {
    this.#size = size;
  }

  /** One number of each task. */
  static ofTasks(instances: readonly string[], rows: readonly SeriesRow[]): FigureTables {
    const tables = new FigureTables(instances.length);
    const places = new Map(instances.map((instance, place) => [instance, place]));
    for (const { instance, metric, points } of rows) {
      const place = places.get(instance);
      if (place !== undefined) tables.#column(metric)[place] = points[0] ?? Number.NaN;
    }
    return tables;
  }

  /** One number of each minute. */
  static ofMinutes(columns: number, rows: readonly SeriesRow[]): FigureTables {
    const tables = new FigureTables(columns);
    for (const { metric, points } of rows) tables.#byMetric.set(metric, points);
    return tables;
  }

  /** NaN where none of them is known. */
  sum(metrics: readonly string[]): Float64Array {
    const sums = this.#nothing();
    for (const metric of metrics) {
      const column = this.#byMetric.get(metric);
      if (column === undefined) continue;
      for (let place = 0; place < sums.length; place += 1) {
        const value = column[place] as number;
        if (!Number.isNaN(value)) sums[place] = plus(sums[place], value);
      }
    }
    return sums;
  }

  /** The mean of what the counts count; NaN where that is nothing. */
  mean(metrics: readonly WeighedMetric[]): Float64Array {
    const times = this.products(metrics);
    const known = metrics.filter(({ mean }) => this.#byMetric.has(mean));
    const counts = this.sum(known.map(({ count }) => count));
    return times.map((time, place) => time / (counts[place] ?? Number.NaN));
  }

  /** Mean times count: how long all of them took. */
  products(metrics: readonly WeighedMetric[]): Float64Array {
    const sums = this.#nothing();
    for (const { mean, count } of metrics) {
      const means = this.#byMetric.get(mean);
      const counts = this.#byMetric.get(count);
      if (means === undefined || counts === undefined) continue;
      for (let place = 0; place < sums.length; place += 1) {
        const product = (means[place] ?? Number.NaN) * (counts[place] ?? Number.NaN);
        if (!Number.isNaN(product)) sums[place] = plus(sums[place], product);
      }
    }
    return sums;
  }

  #column(metric: string): Float64Array {
    let column = this.#byMetric.get(metric);
    if (column === undefined) {
      column = this.#nothing();
      this.#byMetric.set(metric, column);
    }
    return column;
  }

  #nothing(): Float64Array {
    return new Float64Array(this.#size).fill(Number.NaN);
  }
}

/** What is known of both; NaN: nothing. */
function plus(one: number | undefined, other: number): number {
  return one === undefined || Number.isNaN(one) ? other : one + other;
}

/** The sum of what is known; NaN when nothing is. */
export function sumOf(numbers: Float64Array): number {
  let sum = Number.NaN;
  for (const number of numbers) if (!Number.isNaN(number)) sum = plus(sum, number);
  return sum;
}

/** The greatest of what is known; NaN when nothing is. */
export function greatestOf(numbers: Float64Array): number {
  let most = Number.NaN;
  for (const number of numbers) if (!(number <= most) && !Number.isNaN(number)) most = number;
  return most;
}

/** Half of a thousandth is more than anybody reads. */
const DIGITS = 1_000;

/** For JSON: to three decimals, null when it is not known. */
export function shown(number: number): number | null {
  return Number.isFinite(number) ? Math.round(number * DIGITS) / DIGITS : null;
}

export function allShown(numbers: Float64Array, factor = 1): (number | null)[] {
  return Array.from(numbers, (number) => shown(number * factor));
}

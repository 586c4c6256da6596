import type { ValueOf } from '../wire/messages.ts';
import { type QuerySeries, SeriesShape } from '../wire/series-messages.ts';
import type { MetricSeries } from './metric-series.ts';
import type { InstanceMetrics } from './metrics-collector.ts';

type Part = ValueOf<typeof QuerySeries.request>['part'][number];

/** More than one question may ask for. */
export class SeriesRefusal extends Error {
  constructor(points: number, most: number) {
    super(
      `the answer would hold ${points} numbers or take too long; at most ${most} are given: ` +
        'ask for fewer instances, metrics or minutes',
    );
  }
}

export interface SelectedSeries {
  readonly series: MetricSeries;
  /** Indexes in `instances` and `metrics`. */
  readonly instance: number;
  readonly metric: number;
  /** The count by which its means are weighed; undefined: each counts the same. */
  readonly counts: MetricSeries | undefined;
}

const EVERYTHING_BELOW = '/*';

/** The series of one component that a part of a question selects, instance by instance. */
export class SeriesSelection {
  readonly instances: readonly string[];
  readonly #series: SelectedSeries[] = [];
  readonly #metrics = new Map<string, number>();

  constructor(part: Part, metricsOf: ReadonlyMap<string, InstanceMetrics>) {
    const { instance: asked } = part;
    const instances = asked.length > 0 ? asked.filter((id) => metricsOf.has(id)) : metricsOf.keys();
    this.instances = [...instances];
    const beginnings = part.metric
      .filter((name) => name.endsWith(EVERYTHING_BELOW))
      .map((name) => name.slice(0, -1));
    for (const [index, id] of this.instances.entries()) {
      const metrics = metricsOf.get(id);
      if (metrics !== undefined) this.#select(part, beginnings, index, metrics);
    }
  }

  get metrics(): Iterable<string> {
    return this.#metrics.keys();
  }

  /** How many series. */
  get size(): number {
    return this.#series.length;
  }

  rowCount(shape: SeriesShape): number {
    return shape === SeriesShape.MINUTES_OF_ALL ? this.#metrics.size : this.#series.length;
  }

  forEach(call: (selected: SelectedSeries, row: number) => void): void {
    this.#series.forEach(call);
  }

  #select(
    { metric: names, weight: weights }: Part,
    beginnings: readonly string[],
    instance: number,
    metrics: InstanceMetrics,
  ): void {
    const isAll = names.length === 0;
    for (let at = 0; at < names.length; at += 1) {
      const series = metrics.get(names[at] as string);
      if (series === undefined) continue;
      const weight = weights[at];
      const counts = weight === undefined || weight === '' ? undefined : metrics.get(weight);
      this.#series.push({ series, instance, metric: this.#indexOf(names[at] as string), counts });
    }
    if (!isAll && beginnings.length === 0) return;
    for (const [name, series] of metrics) {
      if (!isAll && !beginnings.some((beginning) => name.startsWith(beginning))) continue;
      this.#series.push({ series, instance, metric: this.#indexOf(name), counts: undefined });
    }
  }

  #indexOf(name: string): number {
    const known = this.#metrics.get(name);
    if (known !== undefined) return known;
    this.#metrics.set(name, this.#metrics.size);
    return this.#metrics.size - 1;
  }
}

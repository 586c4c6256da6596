import { aggregationOf } from '../metrics/aggregation.ts';
import type { Metric } from '../metrics/metrics-registry.ts';
import { MetricSeries } from './metric-series.ts';

/*
  The metrics of a topology as its master and its metrics cache remember them, by component,
  instance and name.

  C1. Memory is bounded whatever arrives: INSTANCES_MAX instances, METRICS_MAX metrics an instance;
      what is beyond is dropped and counted. Metrics of an unknown kind are not kept at all.
*/

/** Above the 12,000 of a topology with 1,000 containers; a limit against publishers gone wild. */
const INSTANCES_MAX = 20_000;
/** Names hold stream ids, so a topology decides how many there are. */
const METRICS_MAX = 512;

export interface MetricSource {
  readonly component: string;
  readonly instance: string;
}

/** The metrics of one instance by name. */
export type InstanceMetrics = ReadonlyMap<string, MetricSeries>;

export class MetricsCollector {
  readonly #components = new Map<string, Map<string, Map<string, MetricSeries>>>();
  #instances = 0;
  #dropped = 0;

  /** Numbers that found no room (C1) or were no numbers. */
  get dropped(): number {
    return this.#dropped;
  }

  add(source: MetricSource, metric: Metric, nowSeconds: number): void {
    const aggregation = aggregationOf(metric.name, metric.kind);
    if (aggregation === undefined) return;
    const value = Number(metric.value);
    const instance = this.#instanceOf(source);
    if (instance === undefined || metric.value === '' || !Number.isFinite(value)) {
      this.#dropped += 1;
      return;
    }
    let series = instance.get(metric.name);
    if (series === undefined) {
      if (instance.size >= METRICS_MAX) {
        this.#dropped += 1;
        return;
      }
      series = new MetricSeries(aggregation);
      instance.set(metric.name, series);
    }
    series.add(value, nowSeconds);
  }

  /**
   * Everything that one component's instances have told, by instance id; undefined: nothing yet.
   */
  component(name: string): ReadonlyMap<string, InstanceMetrics> | undefined {
    return this.#components.get(name);
  }

  /** Names of those that have told something, in no order. */
  components(): Iterable<string> {
    return this.#components.keys();
  }

  #instanceOf({ component, instance }: MetricSource): Map<string, MetricSeries> | undefined {
    const known = this.#components.get(component)?.get(instance);
    if (known !== undefined) return known;
    if (this.#instances >= INSTANCES_MAX) return undefined;
    const instances =
      this.#components.get(component) ?? new Map<string, Map<string, MetricSeries>>();
    this.#components.set(component, instances);
    const made = new Map<string, MetricSeries>();
    instances.set(instance, made);
    this.#instances += 1;
    return made;
  }
}

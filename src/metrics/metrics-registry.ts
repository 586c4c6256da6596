import { Histogram } from './histogram.ts';
import type { MetricValue } from './runtime-metrics.ts';
import { decodeHistogram, encodeHistogram } from './histogram-bytes.ts';

/*
  The numbers that one process keeps about itself. The process adds to counters as it works; a
  publisher collects all of them at its own pace.

  M1. `collect` hands out each count once: it starts every counter and mean again at zero, so that
      a collector that adds up what it receives has the true total. Whoever collects must deliver.
  M2. What one thread counts another may publish: `drain` moves counts, means and histograms out of
      a registry, `absorb` adds them to another one. Of values the newest counts. Gauges stay; they
      are read where they are published.
  M3. Asking twice for one name gives the same counter: a connection that comes back goes on with
      the numbers of the last one.
  M4. A number of something that is gone is collected once more, if it is a count, and then no more.
*/

/**
 * What a number is: a `count` since the last publication, the `mean` of what was observed since
 * then, or a `value` at the moment of publication.
 */
export type MetricKind = 'count' | 'mean' | 'value';

/** One number at one moment, in the form in which it travels: decimal text. */
export interface Metric {
  /** Heron's name, with sub-keys behind slashes: `__emit-count/default`. */
  readonly name: string;
  readonly value: string;
  /** Undefined from another engine; see `kindOf` in aggregation.ts. */
  readonly kind?: MetricKind | undefined;
}

/** How often each size of a number was seen since the last collection. */
export interface CollectedHistogram {
  /** As a metric's, and free to be the same as one's. */
  readonly name: string;
  readonly histogram: Histogram;
}

/** How often something happened since the last collection. */
export class Counter {
  /** Hot paths add to it directly; nobody but the registry ever sets it back. */
  value = 0;

  add(amount: number): void {
    this.value += amount;
  }
}

/** The average of what was observed since the last collection, such as a latency. */
export class Mean {
  sum = 0;
  count = 0;

  observe(value: number): void {
    this.sum += value;
    this.count += 1;
  }
}

/** Reads a value at the moment of collection; it must not throw. */
export type GaugeReader = () => number;

/** Reads several values at one moment; it must not throw. */
export type FamilyReader = () => readonly MetricValue[];

/** Counts and means as they are, for another registry: between the threads of one process. */
export interface DrainedMetrics {
  readonly counters: readonly (readonly [name: string, value: number])[];
  readonly means: readonly (readonly [name: string, sum: number, count: number])[];
  readonly values: readonly (readonly [name: string, value: number])[];
  /** In the form of histogram-bytes.ts. */
  readonly histograms: readonly (readonly [name: string, bytes: Uint8Array])[];
}

export class MetricsRegistry {
  readonly #counters = new Map<string, Counter>();
  readonly #means = new Map<string, Mean>();
  readonly #values = new Map<string, number>();
  readonly #histograms = new Map<string, Histogram>();
  readonly #gauges = new Map<string, GaugeReader>();
  readonly #families: FamilyReader[] = [];
  /** Counters that are collected once more (M4). */
  readonly #retired = new Set<string>();

  counter(name: string): Counter {
    this.#retired.delete(name);
    const known = this.#counters.get(name);
    if (known !== undefined) return known;
    const made = new Counter();
    this.#counters.set(name, made);
    return made;
  }

  mean(name: string): Mean {
    const known = this.#means.get(name);
    if (known !== undefined) return known;
    const made = new Mean();
    this.#means.set(name, made);
    return made;
  }

  /** Heavier than the others: twelve kilobytes each. */
  histogram(name: string): Histogram {
    const known = this.#histograms.get(name);
    if (known !== undefined) return known;
    const made = new Histogram();
    this.#histograms.set(name, made);
    return made;
  }

  /** A value that is published as it is until there is another. */
  assign(name: string, value: number): void {
    this.#values.set(name, value);
  }

  /** Replaces the reader when the name is taken: the newest owner knows best. */
  gauge(name: string, read: GaugeReader): void {
    this.#gauges.set(name, read);
  }

  /** Values that are read together at each collection; for as long as the process lives. */
  family(read: FamilyReader): void {
    this.#families.push(read);
  }

  /** What these names are about is gone (M4). Unknown names are nobody's, and no error. */
  retire(...names: readonly string[]): void {
    for (const name of names) {
      this.#gauges.delete(name);
      if (this.#counters.has(name)) this.#retired.add(name);
    }
  }

  /** Everything at this moment (M1). A mean without observations is left out. */
  collect(): Metric[] {
    const metrics: Metric[] = [];
    for (const [name, counter] of this.#counters) {
      metrics.push({ name, value: String(counter.value), kind: 'count' });
      counter.value = 0;
    }
    for (const name of this.#retired) this.#counters.delete(name);
    this.#retired.clear();
    for (const [name, mean] of this.#means) {
      if (mean.count === 0) continue;
      metrics.push({ name, value: String(mean.sum / mean.count), kind: 'mean' });
      mean.sum = 0;
      mean.count = 0;
    }
    for (const [name, value] of this.#values) {
      metrics.push({ name, value: String(value), kind: 'value' });
    }
    for (const [name, read] of this.#gauges) {
      metrics.push({ name, value: String(read()), kind: 'value' });
    }
    for (const [name, value] of this.#families.flatMap((read) => read())) {
      if (value !== undefined) metrics.push({ name, value: String(value), kind: 'value' });
    }
    return metrics;
  }

  /** The histograms that have seen something (M1), as copies. */
  collectHistograms(): CollectedHistogram[] {
    const collected: CollectedHistogram[] = [];
    for (const [name, histogram] of this.#histograms) {
      if (histogram.count === 0) continue;
      const copy = new Histogram();
      copy.add(histogram);
      histogram.clear();
      collected.push({ name, histogram: copy });
    }
    return collected;
  }

  /** What has been counted since the last time, without what is zero (M1); gauges stay behind. */
  drain(): DrainedMetrics {
    const counters: [string, number][] = [];
    const means: [string, number, number][] = [];
    for (const [name, counter] of this.#counters) {
      if (counter.value === 0) continue;
      counters.push([name, counter.value]);
      counter.value = 0;
    }
    for (const [name, mean] of this.#means) {
      if (mean.count === 0) continue;
      means.push([name, mean.sum, mean.count]);
      mean.sum = 0;
      mean.count = 0;
    }
    const values = [...this.#values];
    this.#values.clear();
    const histograms: [string, Uint8Array][] = [];
    for (const [name, histogram] of this.#histograms) {
      if (histogram.count === 0) continue;
      histograms.push([name, encodeHistogram(histogram)]);
      histogram.clear();
    }
    return { counters, means, values, histograms };
  }

  /** Adds what another registry, or this one, was drained of. */
  absorb({ counters, means, values, histograms }: DrainedMetrics): void {
    for (const [name, value] of values) this.#values.set(name, value);
    for (const [name, value] of counters) this.counter(name).add(value);
    for (const [name, sum, count] of means) {
      const mean = this.mean(name);
      mean.sum += sum;
      mean.count += count;
    }
    for (const [name, bytes] of histograms) {
      const histogram = decodeHistogram(bytes);
      if (histogram !== undefined) this.histogram(name).add(histogram);
    }
  }
}

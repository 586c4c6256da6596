import { assertDefined } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { kindOf } from '../metrics/aggregation.ts';
import type { CollectedHistogram, Metric } from '../metrics/metrics-registry.ts';
import { Histogram } from '../metrics/histogram.ts';
import { histogramBounds, histogramName, type MetricFacts, metricFactsOf } from './metric-name.ts';
import {
  type FamilyType,
  familyHead,
  type Label,
  labelText,
  numberText,
} from './prometheus-text.ts';
import type { MetricsRecord, MetricsSink, MetricsSource, SinkCounters } from './sink.ts';

/*
  Keeps what Prometheus reads. Publishers tell what was counted since the last time, Prometheus
  wants totals, so the counts are added up here.

  H1. A counter only grows while its process and this one live; Prometheus knows restarts by a
      smaller total.
  H2. Memory is bounded by SAMPLES_MAX samples, of which a histogram weighs as much as
      HISTOGRAM_WEIGHT; a new one beyond that is dropped and counted. A
      sample that was not told again for `staleMs` goes, so that a task that moved away does not
      stand still for ever.
  H3. One family has one type. A metric whose name another kind of metric has taken is dropped and
      counted.
*/

export interface PrometheusSinkOptions {
  readonly clock: Clock;
  readonly counters: SinkCounters;
  /** Stand first in every sample: topology, cluster, role, environment, container. */
  readonly commonLabels: readonly Label[];
  readonly engineVersion: string;
  readonly staleMs: number;
  readonly samplesMax?: number;
}

interface Sample {
  readonly family: Family;
  readonly labels: string;
  readonly factor: number;
  readonly isCount: boolean;
  /** The lines of a histogram, whose value is not used. */
  readonly distribution: Distribution | undefined;
  value: number;
  /** By the monotonic clock. */
  toldAtMs: number;
}

interface Distribution {
  readonly total: Histogram;
  readonly facts: MetricFacts;
  readonly labels: readonly Label[];
}

interface Family {
  readonly name: string;
  readonly type: FamilyType;
  readonly help: string;
  readonly samples: Map<string, Sample>;
}

/** What is to be made for a metric that comes for the first time. */
interface WantedSample extends Pick<Family, 'name' | 'type' | 'help'> {
  readonly key: string;
  readonly labels: string;
}

/** Above the metrics of a hundred instances with a hundred streams and keys each. */
const SAMPLES_MAX = 20_000;
/** Its buckets take the memory of so many single numbers. */
const HISTOGRAM_WEIGHT = 40;
const SWEEPS_PER_LIFE = 10;
const ABOUT: Readonly<Record<FamilyType, string>> = {
  counter: ', the total',
  gauge: '',
  histogram: ', how often each size was seen',
};
/** `container_<container>_<component>_<task>` of an instance. */
const TASK = /^container_\d+_.+_(\d+)$/;

export class PrometheusSink implements MetricsSink {
  readonly name = 'prometheus-sink';
  readonly queuedRecords = 0;
  readonly #options: PrometheusSinkOptions;
  readonly #families = new Map<string, Family>();
  /** By source and metric: most metrics come again and again, and are parsed once. */
  readonly #samples = new Map<string, Sample>();
  #weight = 0;
  #sweptAtMs = 0;

  constructor(options: PrometheusSinkOptions) {
    this.#options = options;
  }

  get sampleCount(): number {
    return this.#samples.size;
  }

  accept({ source, metrics, exceptions, histograms = [] }: MetricsRecord): void {
    for (const histogram of histograms) this.#addHistogram(source, histogram);
    for (const metric of metrics) this.#add(source, metric);
    let thrown = 0;
    for (const { count } of exceptions) thrown += count;
    if (thrown > 0) {
      const metric: Metric = { name: '__exceptions', value: String(thrown), kind: 'count' };
      this.#add(source, metric);
    }
  }

  async close(): Promise<void> {
    this.#families.clear();
    this.#samples.clear();
    this.#weight = 0;
  }

  /** The page. */
  text(): string {
    this.#forgetStale();
    this.#options.counters.flushed.add(1);
    const { commonLabels, engineVersion } = this.#options;
    const about = labelText([...commonLabels, ['version', engineVersion]]);
    let text = familyHead('heron_engine_info', 'gauge', 'The engine.');
    text += `heron_engine_info${about} 1\n`;
    for (const { name, type, help, samples } of this.#families.values()) {
      text += familyHead(name, type, help);
      for (const sample of samples.values()) text += linesOf(name, sample);
    }
    return text;
  }

  #add(source: MetricsSource, metric: Metric): void {
    const value = Number(metric.value);
    if (metric.value === '' || Number.isNaN(value)) {
      this.#options.counters.dropped.add(1);
      return;
    }
    const key = keyOf(source, metric.name);
    const sample = this.#samples.get(key) ?? this.#makeNumber(key, source, metric);
    if (sample === undefined) {
      this.#options.counters.dropped.add(1);
      return;
    }
    const scaled = value * sample.factor;
    sample.value = sample.isCount ? sample.value + scaled : scaled;
    sample.toldAtMs = this.#options.clock.now();
  }

  #addHistogram(source: MetricsSource, { name, histogram }: CollectedHistogram): void {
    const key = `${keyOf(source, name)}\0histogram`;
    const sample = this.#samples.get(key) ?? this.#makeHistogram(key, source, name);
    if (sample?.distribution === undefined) {
      this.#options.counters.dropped.add(1);
      return;
    }
    sample.distribution.total.add(histogram);
    sample.toldAtMs = this.#options.clock.now();
  }

  #makeNumber(key: string, source: MetricsSource, metric: Metric): Sample | undefined {
    const facts = metricFactsOf(metric.name, source.component);
    const isCount = kindOf(metric) === 'count';
    const type = isCount || facts.isTotal ? 'counter' : 'gauge';
    const name = `heron_${facts.name}${type === 'counter' ? '_total' : ''}`;
    const help = helpOf(facts, metric.name, type);
    const labels = this.#labelsOf(source, facts);
    const wanted = { key, name, type, help, labels: labelText(labels) } as const;
    return this.#make(wanted, { factor: facts.factor, isCount, distribution: undefined });
  }

  #makeHistogram(key: string, source: MetricsSource, metric: string): Sample | undefined {
    const facts = metricFactsOf(metric, source.component);
    const name = `heron_${histogramName(facts)}`;
    const help = helpOf(facts, metric, 'histogram');
    const labels = this.#labelsOf(source, facts);
    const wanted = { key, name, type: 'histogram', help, labels: labelText(labels) } as const;
    const distribution = { total: new Histogram(), facts, labels };
    return this.#make(wanted, { factor: facts.factor, isCount: false, distribution });
  }

  /** Undefined when there is no room (H2) or the name is taken (H3). */
  #make(
    { key, name, type, help, labels }: WantedSample,
    content: Pick<Sample, 'factor' | 'isCount' | 'distribution'>,
  ): Sample | undefined {
    const weight = weightOf(content);
    if (!this.#hasRoom(weight)) return undefined;
    const family = this.#families.get(name) ?? { name, type, help, samples: new Map() };
    // Two of Heron's names may differ in nothing but what a family's name may not hold.
    if (family.type !== type || family.samples.has(labels)) return undefined;
    const sample = { family, labels, ...content, value: 0, toldAtMs: 0 };
    this.#families.set(name, family);
    family.samples.set(labels, sample);
    this.#samples.set(key, sample);
    this.#weight += weight;
    return sample;
  }

  #labelsOf(source: MetricsSource, facts: MetricFacts): readonly Label[] {
    return [...this.#options.commonLabels, ...sourceLabels(source), ...facts.labels];
  }

  /** A full sink looks for what is stale, but not for each metric that it has no room for. */
  #hasRoom(weight: number): boolean {
    const { clock, staleMs, samplesMax = SAMPLES_MAX } = this.#options;
    if (this.#weight + weight <= samplesMax) return true;
    if (clock.now() - this.#sweptAtMs < staleMs / SWEEPS_PER_LIFE) return false;
    this.#forgetStale();
    return this.#weight + weight <= samplesMax;
  }

  #forgetStale(): void {
    const nowMs = this.#options.clock.now();
    this.#sweptAtMs = nowMs;
    for (const [key, sample] of this.#samples) {
      const { family, labels, toldAtMs } = sample;
      if (nowMs - toldAtMs <= this.#options.staleMs) continue;
      this.#samples.delete(key);
      this.#weight -= weightOf(sample);
      family.samples.delete(labels);
      if (family.samples.size === 0) this.#families.delete(family.name);
    }
  }
}

function weightOf({ distribution }: Pick<Sample, 'distribution'>): number {
  return distribution === undefined ? 1 : HISTOGRAM_WEIGHT;
}

function keyOf({ component, instance }: MetricsSource, metric: string): string {
  return `${component}\0${instance}\0${metric}`;
}

function linesOf(name: string, { labels, value, distribution }: Sample): string {
  if (distribution === undefined) return `${name}${labels} ${numberText(value)}\n`;
  const { total, facts, labels: plain } = distribution;
  let lines = '';
  for (const { bound, raw } of histogramBounds(facts)) {
    const bucket = labelText([...plain, ['le', String(bound)]]);
    lines += `${name}_bucket${bucket} ${total.countUpTo(raw)}\n`;
  }
  lines += `${name}_bucket${labelText([...plain, ['le', '+Inf']])} ${total.count}\n`;
  lines += `${name}_sum${labels} ${numberText(total.sum * facts.factor)}\n`;
  return `${lines}${name}_count${labels} ${total.count}\n`;
}

function sourceLabels({ component, instance }: MetricsSource): readonly Label[] {
  const labels: Label[] = [
    ['component', component],
    ['instance_id', instance],
  ];
  const task = TASK.exec(instance);
  if (task !== null) labels.push(['task', assertDefined(task[1], 'the pattern has a group')]);
  return labels;
}

function helpOf(facts: MetricFacts, name: string, type: FamilyType): string {
  const segments = name.split('/');
  const named = name.startsWith('__')
    ? segments.filter((segment) => segment.startsWith('__')).join('/')
    : segments[0];
  const what = facts.name.startsWith('user_') ? 'What a component counts as' : "Heron's";
  const family = named?.replace(/^__client_[^/]+/, '__client_<peer>');
  return `${what} ${family}${ABOUT[type]}.`;
}

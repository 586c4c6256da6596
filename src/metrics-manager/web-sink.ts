import type { Clock } from '../base/clock.ts';
import { percentilesOf } from './percentiles.ts';
import type { MetricsRecord, MetricsSink, SinkCounters } from './sink.ts';

/*
  Keeps the newest numbers of every process of the container, for whoever asks by HTTP:

    {"word/container_1_word_1/__emit-count/default": 7, …}              as Heron's web sink has it
    {"word/container_1_word_1": {"__emit-count/default": 7, …}, …}      with ?flat=false

  With ?topology=true the topology's name stands before each component's.

  J1. Bounded by METRICS_MAX numbers; of a process that has told nothing for `staleMs` none is left.
*/

export interface WebSinkOptions {
  readonly clock: Clock;
  readonly counters: SinkCounters;
  readonly topology: string;
  readonly staleMs: number;
  readonly metricsMax?: number;
}

interface Newest {
  readonly component: string;
  readonly instance: string;
  readonly values: Map<string, number>;
  toldAtMs: number;
}

const METRICS_MAX = 20_000;

export class WebSink implements MetricsSink {
  readonly name = 'web-sink';
  readonly queuedRecords = 0;
  readonly #options: WebSinkOptions;
  readonly #sources = new Map<string, Newest>();
  #count = 0;

  constructor(options: WebSinkOptions) {
    this.#options = options;
  }

  accept(record: MetricsRecord): void {
    const { clock, counters, metricsMax = METRICS_MAX } = this.#options;
    const { component, instance } = record.source;
    const newest = this.#sourceOf(component, instance);
    newest.toldAtMs = clock.now();
    for (const { name, value } of [...record.metrics, ...percentilesOf(record.histograms)]) {
      const isKnown = newest.values.has(name);
      const number = Number(value);
      if (!Number.isFinite(number) || (!isKnown && this.#count >= metricsMax)) {
        counters.dropped.add(1);
        continue;
      }
      if (!isKnown) this.#count += 1;
      newest.values.set(name, number);
    }
  }

  async close(): Promise<void> {
    this.#sources.clear();
  }

  json(query: URLSearchParams): string {
    this.#forgetStale();
    this.#options.counters.flushed.add(1);
    const isFlat = query.get('flat') !== 'false';
    const before = query.get('topology') === 'true' ? `${this.#options.topology}/` : '';
    const page: Record<string, unknown> = {};
    for (const { component, instance, values } of this.#sources.values()) {
      const source = `${before}${component}/${instance}`;
      if (!isFlat) page[source] = Object.fromEntries(values);
      else for (const [name, value] of values) page[`${source}/${name}`] = value;
    }
    return JSON.stringify(page);
  }

  #sourceOf(component: string, instance: string): Newest {
    const key = `${component}\0${instance}`;
    const known = this.#sources.get(key);
    if (known !== undefined) return known;
    this.#forgetStale(); // Processes come rarely, and only then may one have gone.
    const made: Newest = { component, instance, values: new Map(), toldAtMs: 0 };
    this.#sources.set(key, made);
    return made;
  }

  #forgetStale(): void {
    const nowMs = this.#options.clock.now();
    for (const [key, { values, toldAtMs }] of this.#sources) {
      if (nowMs - toldAtMs <= this.#options.staleMs) continue;
      this.#sources.delete(key);
      this.#count -= values.size;
    }
  }
}

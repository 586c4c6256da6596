import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Counter, MetricsRegistry } from '../metrics/metrics-registry.ts';
import { itemsOf, type MetricsRecord, type MetricsSink, type SinkCounters } from './sink.ts';

/*
  The sinks of a metrics manager. Every record goes to each of them; what happens in one is not
  noticed by the others (N1, N2). The counters have Heron's names.
*/

interface Entry {
  readonly sink: MetricsSink;
  readonly metrics: Counter;
  readonly exceptions: Counter;
  readonly records: Counter;
  readonly dropped: Counter;
  hasThrown: boolean;
}

export class SinkSet {
  readonly #registry: MetricsRegistry;
  readonly #logger: Logger;
  readonly #entries: Entry[] = [];
  /** Takes spans, and nothing else; undefined where there are none. */
  #spans: Entry | undefined;

  constructor(registry: MetricsRegistry, logger: Logger) {
    this.#registry = registry;
    this.#logger = logger;
  }

  get names(): readonly string[] {
    return this.#entries.map(({ sink }) => sink.name);
  }

  countersOf(name: string): SinkCounters {
    return {
      dropped: this.#registry.counter(`${name}/dropped-count`),
      flushed: this.#registry.counter(`${name}/flush-count`),
    };
  }

  add(sink: MetricsSink): void {
    this.#entries.push(this.#entryOf(sink));
  }

  addForSpans(sink: MetricsSink): void {
    this.#spans = this.#entryOf(sink);
  }

  #entryOf(sink: MetricsSink): Entry {
    const counter = (what: string): Counter => this.#registry.counter(`${sink.name}/${what}`);
    this.#registry.gauge(`communicator-size-${sink.name}`, () => sink.queuedRecords);
    return {
      sink,
      metrics: counter('metrics-count'),
      exceptions: counter('exceptions-count'),
      records: counter('record-process-count'),
      dropped: counter('dropped-count'),
      hasThrown: false,
    };
  }

  accept(record: MetricsRecord): void {
    this.#registry.counter('communicator-offer').add(this.#entries.length);
    for (const entry of this.#entries) {
      this.#offer(entry, record);
      entry.metrics.add(record.metrics.length + (record.histograms?.length ?? 0));
      entry.exceptions.add(record.exceptions.length);
      entry.records.add(1);
    }
  }

  /** A record with spans. Where nobody takes them they are nobody's. */
  acceptSpans(record: MetricsRecord): void {
    const entry = this.#spans;
    if (entry === undefined) return;
    this.#offer(entry, record);
    entry.metrics.add(itemsOf(record));
    entry.records.add(1);
  }

  /** All at once: a sink that takes its whole second takes nobody else's. */
  async close(): Promise<void> {
    const all = this.#spans === undefined ? this.#entries : [...this.#entries, this.#spans];
    await Promise.all(all.map(({ sink }) => sink.close()));
  }

  #offer(entry: Entry, record: MetricsRecord): void {
    try {
      entry.sink.accept(record);
    } catch (error) {
      entry.dropped.add(itemsOf(record));
      if (entry.hasThrown) return;
      entry.hasThrown = true; // One log line is enough: the counter tells how often.
      this.#logger.error(`${entry.sink.name} fails: ${messageOf(error)}`, { error });
    }
  }
}

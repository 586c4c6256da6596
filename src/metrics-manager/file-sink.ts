import { isoTime } from '../base/iso-time.ts';
import type { AppendFile } from '../base/rotating-file.ts';
import { percentilesOf } from './percentiles.ts';
import { itemsOf, type MetricsRecord, type MetricsSink, type SinkCounters } from './sink.ts';

/** Appends each record as one JSON line to a bounded file. What the disk refuses is counted. */
export class FileSink implements MetricsSink {
  readonly name = 'file-sink';
  readonly queuedRecords = 0;
  readonly #file: AppendFile;
  readonly #counters: SinkCounters;

  constructor(file: AppendFile, counters: SinkCounters) {
    this.#file = file;
    this.#counters = counters;
  }

  accept(record: MetricsRecord): void {
    const { source, atMs, exceptions, histograms } = record;
    const metrics = [...record.metrics, ...percentilesOf(histograms)];
    const line = JSON.stringify({
      time: isoTime(atMs),
      ...source,
      metrics: Object.fromEntries(metrics.map(({ name, value }) => [name, value])),
      ...(exceptions.length > 0 && { exceptions }),
    });
    if (this.#file.append(`${line}\n`)) this.#counters.flushed.add(1);
    else this.#counters.dropped.add(itemsOf(record));
  }

  async close(): Promise<void> {
    this.#file.close();
  }
}

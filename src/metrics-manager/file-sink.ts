import { isoTime } from '../base/iso-time.ts';
import type { AppendFile } from '../base/rotating-file.ts';
import type { Counter } from '../metrics/metrics-registry.ts';
import type { MetricsRecord, MetricsSink } from './sink.ts';

/** Appends each record as one JSON line to a bounded file. What the disk refuses is counted. */
export class FileSink implements MetricsSink {
  readonly name = 'file-sink';
  readonly #file: AppendFile;
  readonly #dropped: Counter;

  constructor(file: AppendFile, dropped: Counter) {
    this.#file = file;
    this.#dropped = dropped;
  }

  accept({ source, atMs, metrics, exceptions }: MetricsRecord): void {
    const line = JSON.stringify({
      time: isoTime(atMs),
      ...source,
      metrics: Object.fromEntries(metrics.map(({ name, value }) => [name, value])),
      ...(exceptions.length > 0 && { exceptions }),
    });
    if (!this.#file.append(`${line}\n`)) this.#dropped.add(metrics.length + exceptions.length);
  }

  async close(): Promise<void> {
    this.#file.close();
  }
}

import { isoTime } from '../base/iso-time.ts';
import { RotatingFile, type RotatingFileOptions } from '../base/rotating-file.ts';
import type { Counter } from '../metrics/metrics-registry.ts';
import type { MetricsRecord, MetricsSink } from './sink.ts';

/** Appends each record as one JSON line to a bounded file. What the disk refuses is counted. */
export class FileSink implements MetricsSink {
  readonly name = 'file-sink';
  readonly #file: RotatingFile;
  readonly #dropped: Counter;

  /** @throws EngineError FILE_FAILED when the file cannot be opened. */
  constructor(options: RotatingFileOptions, dropped: Counter) {
    this.#file = new RotatingFile(options);
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

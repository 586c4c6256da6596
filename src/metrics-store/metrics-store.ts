import type { Clock } from '../base/clock.ts';
import { decodeHistogram } from '../metrics/histogram-bytes.ts';
import { metricOf } from '../wire/metric-kind.ts';
import type { PublishMetricsToMaster, ValueOf } from '../wire/messages.ts';
import { ExceptionLog, type ExceptionLogOptions } from './exception-log.ts';
import { HistogramLog } from './histogram-log.ts';
import { MetricsCollector } from './metrics-collector.ts';

/** What metrics managers have told: numbers and exceptions, kept within bounds. */
export class MetricsStore {
  readonly metrics = new MetricsCollector();
  readonly histograms = new HistogramLog();
  readonly exceptions: ExceptionLog;
  /** Since when it listens; by the wall clock. */
  readonly sinceSeconds: number;
  readonly #clock: Clock;

  constructor(clock: Clock, options: ExceptionLogOptions = {}) {
    this.#clock = clock;
    this.exceptions = new ExceptionLog(options);
    this.sinceSeconds = this.nowSeconds;
  }

  /** Numbers and histograms that found no room. */
  get dropped(): number {
    return this.metrics.dropped + this.histograms.dropped;
  }

  /** Seconds by the wall clock. */
  get nowSeconds(): number {
    return Math.floor(this.#clock.wallNow() / 1000);
  }

  /** The time of arrival counts, as clocks of other machines may differ. */
  add({ metrics, exceptions, histograms }: ValueOf<typeof PublishMetricsToMaster>): void {
    const { nowSeconds } = this;
    for (const datum of metrics) {
      const source = { component: datum.componentName, instance: datum.instanceId };
      this.metrics.add(source, metricOf(datum), nowSeconds);
    }
    for (const { componentName, name, buckets } of histograms) {
      const histogram = decodeHistogram(buckets);
      if (histogram !== undefined) this.histograms.add(componentName, name, histogram, nowSeconds);
    }
    for (const exception of exceptions) {
      this.exceptions.add({
        component: exception.componentName,
        instance: exception.instanceId,
        hostname: exception.hostname,
        stackTrace: exception.stacktrace,
        firstTime: exception.firsttime,
        lastTime: exception.lasttime,
        count: exception.count,
        logging: exception.logging,
      });
    }
  }
}

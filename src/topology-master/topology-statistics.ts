import type { Clock } from '../base/clock.ts';
import type { PublishMetricsToMaster, ValueOf } from '../wire/messages.ts';
import { ExceptionLog } from './exception-log.ts';
import { MetricsCollector } from './metrics-collector.ts';

/** What metrics managers have told the master: numbers and exceptions, kept within bounds. */
export class TopologyStatistics {
  readonly metrics = new MetricsCollector();
  readonly exceptions = new ExceptionLog();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Seconds by the wall clock. */
  get nowSeconds(): number {
    return Math.floor(this.#clock.wallNow() / 1000);
  }

  /** The time of arrival counts, as clocks of other machines may differ. */
  add({ metrics, exceptions }: ValueOf<typeof PublishMetricsToMaster>): void {
    const { nowSeconds } = this;
    for (const { componentName, instanceId, name, value } of metrics) {
      const source = { component: componentName, instance: instanceId };
      this.metrics.add(source, { name, value }, nowSeconds);
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

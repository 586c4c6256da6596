import type { Clock, Timer } from '../../base/clock.ts';
import { messageOf, userError } from '../../base/errors.ts';
import { MetricsRegistry } from '../../metrics/metrics-registry.ts';
import type { UserMetric } from '../../metrics/user-metric.ts';
import { NO_ROOM, type RingWriter } from '../../ring/byte-ring.ts';
import { decodeMetricsFrame, encodeMetricsFrames } from '../metrics-frame.ts';

export interface MetricsReporterOptions {
  readonly ring: RingWriter;
  readonly clock: Clock;
  /** The setting `heron.metrics.export.interval.ms`. */
  readonly intervalMs: number;
  /** A metric of the user's failed; what it had to tell is lost. */
  readonly onError: (error: unknown) => void;
}

/** Twice an export: what the gateway publishes is then at most half an interval old. */
const REPORTS_PER_EXPORT = 2;
/** Half of what the smallest ring takes, so that a second portion mostly finds room as well. */
const FRAME_BYTES_MAX = 32 * 1024;

/**
 * The task's metrics, on their way to the gateway through a ring of their own.
 *
 * R1. A report that finds no room is not written, and nothing is lost: its counts stay where they
 *     are and go with the next one.
 */
export class MetricsReporter {
  readonly registry = new MetricsRegistry();
  readonly #options: MetricsReporterOptions;
  readonly #userMetrics = new Map<string, UserMetric>();
  #timer: Timer | undefined;

  constructor(options: MetricsReporterOptions) {
    this.#options = options;
  }

  registerUserMetric(name: string, metric: UserMetric): void {
    this.#userMetrics.set(name, metric);
  }

  start(): void {
    const { clock, intervalMs } = this.#options;
    this.#timer = clock.every(intervalMs / REPORTS_PER_EXPORT, () => this.report());
  }

  report(): void {
    const { ring } = this.#options;
    for (const [name, metric] of this.#userMetrics) {
      this.#reportUserMetric(name, metric);
    }
    const drained = this.registry.drain();
    for (const frame of encodeMetricsFrames(drained, FRAME_BYTES_MAX)) {
      const at = ring.reserve(frame.length);
      if (at === NO_ROOM) {
        this.registry.absorb(decodeMetricsFrame(frame));
        continue;
      }
      ring.bytes.set(frame, at);
      ring.commit(at, at + frame.length);
    }
  }

  #reportUserMetric(name: string, metric: UserMetric): void {
    const { registry } = this;
    const nameOf = (key?: string): string => (key === undefined ? name : `${name}/${key}`);
    try {
      metric.report({
        count(amount, key) {
          if (Number.isFinite(amount)) registry.counter(nameOf(key)).add(amount);
        },
        mean(sum, count, key) {
          if (!Number.isFinite(sum) || !Number.isFinite(count)) return;
          const mean = registry.mean(nameOf(key));
          mean.sum += sum;
          mean.count += count;
        },
        value(value, key) {
          if (Number.isFinite(value)) registry.assign(nameOf(key), value);
        },
      });
    } catch (error) {
      this.#options.onError(
        userError('COMPONENT_FAILED', `metric '${name}' failed: ${messageOf(error)}`, error),
      );
    }
  }

  /** Reports for the last time. Idempotent. */
  close(): void {
    this.#timer?.cancel();
    this.report();
  }
}

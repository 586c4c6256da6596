import type { Clock, Timer } from '../../base/clock.ts';
import { messageOf, userError } from '../../base/errors.ts';
import { MetricsRegistry } from '../../metrics/metrics-registry.ts';
import { type RuntimeUse, runtimeMetrics } from '../../metrics/runtime-metrics.ts';
import type { UserMetric } from '../../metrics/user-metric.ts';
import { NO_ROOM, type RingWriter } from '../../ring/byte-ring.ts';
import { decodeMetricsFrame, encodeMetricsFrames, encodeSpanFrames } from '../metrics-frame.ts';

export interface MetricsReporterOptions {
  readonly ring: RingWriter;
  readonly clock: Clock;
  /** The setting `heron.metrics.export.interval.ms`. */
  readonly intervalMs: number;
  /** What the runtime of this thread takes; undefined where that is not known. */
  readonly runtimeUse?: (() => RuntimeUse) | undefined;
  /** A metric of the user's failed; what it had to tell is lost. */
  readonly onError: (error: unknown) => void;
}

/** Twice an export: what the gateway publishes is then at most half an interval old. */
const REPORTS_PER_EXPORT = 2;
/** Half of what the smallest ring takes, so that a second portion mostly finds room as well. */
const FRAME_BYTES_MAX = 32 * 1024;
/** Finished spans leave together, soon enough to be looked at while something is going on. */
const SPANS_MS = 1_000;
/** Some megabytes; more come only when the gateway does not read. */
const SPANS_MAX = 4_096;

/**
 * The task's metrics, on their way to the gateway through a ring of their own.
 *
 * R1. A report that finds no room is not written, and nothing is lost: its counts stay where they
 *     are and go with the next one.
 * R2. Spans wait in a bounded list until there is room; those that find no place are counted.
 */
export class MetricsReporter {
  readonly registry = new MetricsRegistry();
  readonly #options: MetricsReporterOptions;
  readonly #userMetrics = new Map<string, UserMetric>();
  #timer: Timer | undefined;
  #spans: string[] = [];
  #spansDue: Timer | undefined;

  constructor(options: MetricsReporterOptions) {
    this.#options = options;
  }

  registerUserMetric(name: string, metric: UserMetric): void {
    this.#userMetrics.set(name, metric);
  }

  /** A finished span, in OTLP's JSON form (R2). */
  addSpan(span: string): void {
    if (this.#spans.length >= SPANS_MAX) {
      this.registry.counter('__spans-dropped-count').add(1);
      return;
    }
    this.#spans.push(span);
    this.#spansDue ??= this.#options.clock.after(SPANS_MS, () => this.#reportSpans());
  }

  start(): void {
    const { clock, intervalMs } = this.#options;
    this.#timer = clock.every(intervalMs / REPORTS_PER_EXPORT, () => this.report());
  }

  report(): void {
    const { ring, runtimeUse } = this.#options;
    for (const [name, metric] of this.#userMetrics) {
      this.#reportUserMetric(name, metric);
    }
    for (const [name, value] of runtimeUse === undefined ? [] : runtimeMetrics(runtimeUse())) {
      if (value !== undefined) this.registry.assign(name, value);
    }
    const drained = this.registry.drain();
    for (const frame of encodeMetricsFrames(drained, FRAME_BYTES_MAX)) {
      if (!writeFrame(ring, frame)) this.registry.absorb(decodeMetricsFrame(frame));
    }
  }

  #reportSpans(): void {
    this.#spansDue?.cancel();
    this.#spansDue = undefined;
    const waiting = this.#spans;
    this.#spans = [];
    for (const frame of encodeSpanFrames(waiting, FRAME_BYTES_MAX)) {
      if (writeFrame(this.#options.ring, frame)) continue;
      for (const span of decodeMetricsFrame(frame).spans) this.addSpan(span);
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
        histogram(histogram, key) {
          registry.histogram(nameOf(key)).add(histogram);
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
    this.#reportSpans();
    this.#spansDue?.cancel();
  }
}

function writeFrame(ring: RingWriter, frame: Uint8Array): boolean {
  const at = ring.reserve(frame.length);
  if (at === NO_ROOM) return false;
  ring.bytes.set(frame, at);
  ring.commit(at, at + frame.length);
  return true;
}

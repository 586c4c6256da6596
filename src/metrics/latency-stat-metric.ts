import type { Clock } from '../base/clock.ts';
import { MeanMetric } from './reduced-metric.ts';
import type { MetricReport, UserMetric } from './user-metric.ts';

const MINUTE_MS = 60_000;
const WINDOWS_MS = {
  tenMinutes: 10 * MINUTE_MS,
  threeHours: 180 * MINUTE_MS,
  day: 1440 * MINUTE_MS,
};
/** A window moves in steps of a twentieth of its length. */
const BUCKETS = 20;

/** Averages in milliseconds; undefined where nothing was observed. */
export interface LatencyAverages {
  readonly tenMinutes: number | undefined;
  readonly threeHours: number | undefined;
  readonly day: number | undefined;
  readonly all: number | undefined;
}

/**
 * How long something takes. Published is the average since the last publication, in milliseconds;
 * `averages` tells the component itself how the last minutes, hours and the whole time were.
 *
 * @example
 * ```ts
 * const stop = this.#lookups.start();
 * await this.#client.get(key);
 * stop();
 * ```
 */
export class LatencyStatMetric implements UserMetric {
  readonly #clock: Clock;
  readonly #recent = new MeanMetric();
  readonly #windows: readonly Window[];
  #sum = 0;
  #count = 0;

  /** `context.clock` is the one to give. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#windows = Object.values(WINDOWS_MS).map((lengthMs) => new Window(lengthMs / BUCKETS));
  }

  record(latencyMs: number): void {
    const now = this.#clock.now();
    this.#recent.update(latencyMs);
    this.#sum += latencyMs;
    this.#count += 1;
    for (const window of this.#windows) window.add(now, latencyMs);
  }

  /** Begins a measurement, which the function that it returns ends and records. */
  start(): () => void {
    const startedAt = this.#clock.now();
    return () => this.record(this.#clock.now() - startedAt);
  }

  get averages(): LatencyAverages {
    const now = this.#clock.now();
    const [tenMinutes, threeHours, day] = this.#windows.map((window) => window.average(now));
    return { tenMinutes, threeHours, day, all: average(this.#sum, this.#count) };
  }

  report(to: MetricReport): void {
    this.#recent.report(to);
  }
}

/** A ring of buckets, each of which holds what fell into one step of time. */
class Window {
  readonly #stepMs: number;
  readonly #buckets = Array.from({ length: BUCKETS }, () => ({ step: -1, sum: 0, count: 0 }));

  constructor(stepMs: number) {
    this.#stepMs = stepMs;
  }

  add(now: number, value: number): void {
    const step = Math.floor(now / this.#stepMs);
    const bucket = this.#buckets[step % BUCKETS];
    if (bucket === undefined) return;
    if (bucket.step !== step) Object.assign(bucket, { step, sum: 0, count: 0 });
    bucket.sum += value;
    bucket.count += 1;
  }

  average(now: number): number | undefined {
    const oldest = Math.floor(now / this.#stepMs) - BUCKETS + 1;
    const live = this.#buckets.filter(({ step }) => step >= oldest);
    return average(
      live.reduce((total, { sum }) => total + sum, 0),
      live.reduce((total, { count }) => total + count, 0),
    );
  }
}

function average(sum: number, count: number): number | undefined {
  return count === 0 ? undefined : sum / count;
}

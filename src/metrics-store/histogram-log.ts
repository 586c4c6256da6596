import { Histogram } from '../metrics/histogram.ts';
import { decodeHistogram, encodeHistogram } from '../metrics/histogram-bytes.ts';
import { BUCKET_SECONDS, type Window } from './metric-series.ts';

/*
  Distributions as the topology master and the metrics cache remember them: one for each metric of a
  component and each minute, in which those of all its tasks are added up. That is what percentiles
  of a component, or of more than a minute, are told from; percentiles themselves do not add up.

      total since the beginning    [minute][minute][minute]   the minute that is being filled
      a histogram                  bytes, oldest first         a histogram

  D1. Memory is bounded: SERIES_MAX metrics, each with MINUTES_MAX minutes, of which the oldest go
      when all together take more than BYTES_MAX. A metric beyond is dropped and counted.
  D2. The time of arrival picks the minute, as for single numbers (metric-series.ts).
*/

/** Above what 100 components with ten histograms have; two of 12 KiB each are 24 MiB. */
const SERIES_MAX = 1_000;
/** As of single numbers: Heron's three hours. */
const MINUTES_MAX = 180;
/** Three hours of 400 metrics at some 400 bytes a minute. */
const BYTES_MAX = 32 * 1024 * 1024;

interface Minute {
  readonly startSeconds: number;
  readonly bytes: Uint8Array;
}

interface Series {
  readonly total: Histogram;
  /** Of the minute that is being filled, which begins at `startSeconds`. */
  readonly newest: Histogram;
  startSeconds: number;
  minutes: Minute[];
}

export interface MinuteOfHistogram {
  readonly startSeconds: number;
  readonly histogram: Histogram;
}

export class HistogramLog {
  readonly #series = new Map<string, Series>();
  readonly #bytesMax: number;
  #bytes = 0;
  #dropped = 0;

  /** `bytesMax` is another limit than usual, for tests. */
  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** Histograms that found no room (D1). */
  get dropped(): number {
    return this.#dropped;
  }

  /** Of the minutes that are over. */
  get minuteBytes(): number {
    return this.#bytes;
  }

  /** What one task has told. */
  add(component: string, metric: string, histogram: Histogram, nowSeconds: number): void {
    const series = this.#seriesOf(component, metric);
    if (series === undefined) {
      this.#dropped += 1;
      return;
    }
    const startSeconds = Math.floor(nowSeconds / BUCKET_SECONDS) * BUCKET_SECONDS;
    // A wall clock that was set back goes on filling the newest minute: their order must hold.
    if (startSeconds > series.startSeconds) this.#turn(series, startSeconds);
    series.newest.add(histogram);
    series.total.add(histogram);
  }

  /** Of all tasks over a stretch of time, 0 as its start meaning everything; undefined: nothing. */
  over(component: string, metric: string, window: Window): Histogram | undefined {
    const series = this.#series.get(keyOf(component, metric));
    if (series === undefined || window.startSeconds === 0) return series?.total;
    const merged = new Histogram();
    for (const { histogram } of minutesOf(series, window)) merged.add(histogram);
    return merged.count === 0 ? undefined : merged;
  }

  /** Newest first. */
  minutesIn(component: string, metric: string, window: Window): readonly MinuteOfHistogram[] {
    const series = this.#series.get(keyOf(component, metric));
    return series === undefined ? [] : minutesOf(series, window);
  }

  #seriesOf(component: string, metric: string): Series | undefined {
    const key = keyOf(component, metric);
    const known = this.#series.get(key);
    if (known !== undefined || this.#series.size >= SERIES_MAX) return known;
    const made = {
      total: new Histogram(),
      newest: new Histogram(),
      startSeconds: Number.NEGATIVE_INFINITY,
      minutes: [],
    };
    this.#series.set(key, made);
    return made;
  }

  /** Begins another minute. */
  #turn(series: Series, startSeconds: number): void {
    const { newest, minutes } = series;
    if (newest.count > 0) {
      const bytes = encodeHistogram(newest);
      minutes.push({ startSeconds: series.startSeconds, bytes });
      this.#bytes += bytes.length;
      newest.clear();
    }
    series.startSeconds = startSeconds;
    if (minutes.length > MINUTES_MAX) this.#forgetOldest(series);
    while (this.#bytes > this.#bytesMax && this.#forgetOldestOfAll());
  }

  #forgetOldest(series: Series): void {
    this.#bytes -= series.minutes.shift()?.bytes.length ?? 0;
  }

  #forgetOldestOfAll(): boolean {
    let oldest: Series | undefined;
    for (const series of this.#series.values()) {
      if (startOf(series) < startOf(oldest)) oldest = series;
    }
    if (oldest === undefined) return false;
    this.#forgetOldest(oldest);
    return true;
  }
}

function keyOf(component: string, metric: string): string {
  return `${component}\0${metric}`;
}

function startOf(series: Series | undefined): number {
  return series?.minutes[0]?.startSeconds ?? Number.POSITIVE_INFINITY;
}

function minutesOf(series: Series, { startSeconds, endSeconds }: Window): MinuteOfHistogram[] {
  const isAsked = (start: number): boolean =>
    start <= endSeconds && start + BUCKET_SECONDS > startSeconds;
  const found: MinuteOfHistogram[] = [];
  if (series.newest.count > 0 && isAsked(series.startSeconds)) {
    found.push({ startSeconds: series.startSeconds, histogram: series.newest });
  }
  for (const { startSeconds: start, bytes } of series.minutes.toReversed()) {
    const histogram = isAsked(start) ? decodeHistogram(bytes) : undefined;
    if (histogram !== undefined) found.push({ startSeconds: start, histogram });
  }
  return found;
}

import type { Aggregation } from '../metrics/aggregation.ts';

/*
  One metric of one instance over time: the total since the master started, and one bucket for each
  minute in which something arrived. The time of arrival picks the bucket. Memory is bounded by
  BUCKETS_MAX buckets, which lie in one array of numbers, oldest first:

      start  value           a sum, or the last value
      start  value  count    an average

  A large topology has ten thousands of series; with an object for each bucket they took four times
  as much (docs/scale.md).
*/

/** Both values are Heron's: three hours of minutes. */
export const BUCKET_SECONDS = 60;
export const BUCKETS_MAX = 180;

/** Seconds of the wall clock; a bucket counts when it overlaps. */
export interface Window {
  readonly startSeconds: number;
  readonly endSeconds: number;
}

export interface BucketValue extends Window {
  readonly value: number;
}

const START = 0;
const VALUE = 1;
const COUNT = 2;
const FIRST_BUCKETS = 4;

export class MetricSeries {
  readonly #aggregation: Aggregation;
  /** Numbers of a bucket. */
  readonly #stride: number;
  #numbers: Float64Array;
  /** How many of them are in use. */
  #length = 0;
  #totalValue = 0;
  #totalCount = 0;

  constructor(aggregation: Aggregation) {
    this.#aggregation = aggregation;
    this.#stride = aggregation === 'average' ? 3 : 2;
    this.#numbers = new Float64Array(FIRST_BUCKETS * this.#stride);
  }

  add(value: number, nowSeconds: number): void {
    this.#totalValue = this.#joined(this.#totalValue, value);
    this.#totalCount += 1;
    const at = this.#bucketFor(nowSeconds);
    this.#numbers[at + VALUE] = this.#joined(this.#number(at + VALUE), value);
    if (this.#aggregation === 'average') this.#numbers[at + COUNT] = this.#number(at + COUNT) + 1;
  }

  /** Over all time, also what is older than the buckets. */
  total(): number {
    return this.#aggregation === 'average' ? this.#totalValue / this.#totalCount : this.#totalValue;
  }

  /** NaN for an average of nothing. */
  over({ startSeconds, endSeconds }: Window): number {
    const numbers = this.#numbers;
    const isLast = this.#aggregation === 'last';
    const isAverage = this.#aggregation === 'average';
    let [value, count] = [0, 0];
    let at = this.#firstAfter(startSeconds - BUCKET_SECONDS);
    for (; at < this.#length && (numbers[at] as number) <= endSeconds; at += this.#stride) {
      const own = numbers[at + VALUE] as number;
      value = isLast ? own : value + own;
      if (isAverage) count += numbers[at + COUNT] as number;
    }
    return isAverage ? value / count : value;
  }

  /** Newest first. */
  bucketsIn(window: Window): BucketValue[] {
    return this.#overlapping(window)
      .toReversed()
      .map((at) => {
        const startSeconds = this.#number(at + START);
        const endSeconds = startSeconds + BUCKET_SECONDS;
        const value = this.#number(at + VALUE);
        const isAverage = this.#aggregation === 'average';
        return {
          value: isAverage ? value / this.#number(at + COUNT) : value,
          startSeconds,
          endSeconds,
        };
      });
  }

  /**
   * Puts the value of each minute at its place: `into[0]` is the minute that begins then. Other
   * places stay as they are.
   */
  copyMinutes(into: Float64Array, firstSeconds: number): void {
    const numbers = this.#numbers;
    const isAverage = this.#aggregation === 'average';
    let at = this.#firstAfter(firstSeconds - 1);
    for (; at < this.#length; at += this.#stride) {
      const place = ((numbers[at] as number) - firstSeconds) / BUCKET_SECONDS;
      if (place >= into.length) return;
      const value = numbers[at + VALUE] as number;
      into[place] = isAverage ? value / (numbers[at + COUNT] as number) : value;
    }
  }

  /**
   * Adds the value of each minute to those of other series: what `sums` then has, divided by what
   * `weights` has, is a sum, or the mean of averages weighed by `counts`.
   */
  addMinutes(
    sums: Float64Array,
    weights: Float64Array,
    firstSeconds: number,
    counts: MetricSeries | undefined,
  ): void {
    if (this.#aggregation === 'average') {
      this.#addMeans(sums, weights, firstSeconds, counts);
      return;
    }
    const numbers = this.#numbers;
    let at = this.#firstAfter(firstSeconds - 1);
    for (; at < this.#length; at += this.#stride) {
      const place = ((numbers[at] as number) - firstSeconds) / BUCKET_SECONDS;
      if (place >= sums.length) return;
      sums[place] = (sums[place] as number) + (numbers[at + VALUE] as number);
      weights[place] = 1;
    }
  }

  #addMeans(
    sums: Float64Array,
    weights: Float64Array,
    firstSeconds: number,
    counts: MetricSeries | undefined,
  ): void {
    const numbers = this.#numbers;
    let countAt = counts === undefined ? 0 : counts.#firstAfter(firstSeconds - 1);
    let at = this.#firstAfter(firstSeconds - 1);
    for (; at < this.#length; at += this.#stride) {
      const startSeconds = numbers[at] as number;
      const place = (startSeconds - firstSeconds) / BUCKET_SECONDS;
      if (place >= sums.length) return;
      let weight = 1;
      if (counts !== undefined) {
        const others = counts.#numbers;
        while (countAt < counts.#length && (others[countAt] as number) < startSeconds) {
          countAt += counts.#stride;
        }
        const isThere = countAt < counts.#length && others[countAt] === startSeconds;
        weight = isThere ? (others[countAt + VALUE] as number) : 0;
      }
      const mean = (numbers[at + VALUE] as number) / (numbers[at + COUNT] as number);
      sums[place] = (sums[place] as number) + mean * weight;
      weights[place] = (weights[place] as number) + weight;
    }
  }

  /** Where the first bucket lies that begins after this second. */
  #firstAfter(seconds: number): number {
    let [low, high] = [0, this.#length / this.#stride];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#numbers[middle * this.#stride] as number) > seconds) high = middle;
      else low = middle + 1;
    }
    return low * this.#stride;
  }

  /** Where the bucket begins. */
  #bucketFor(nowSeconds: number): number {
    const startSeconds = Math.floor(nowSeconds / BUCKET_SECONDS) * BUCKET_SECONDS;
    const newest = this.#length - this.#stride;
    // A wall clock that was set back goes on filling the newest bucket: their order must hold.
    if (newest >= 0 && startSeconds <= this.#number(newest + START)) return newest;
    if (this.#length === BUCKETS_MAX * this.#stride) {
      this.#numbers.copyWithin(0, this.#stride);
      this.#length -= this.#stride;
    } else if (this.#length === this.#numbers.length) this.#grow();
    const at = this.#length;
    this.#length += this.#stride;
    this.#numbers.fill(0, at, this.#length);
    this.#numbers[at + START] = startSeconds;
    return at;
  }

  #grow(): void {
    const buckets = Math.min(2 * (this.#length / this.#stride), BUCKETS_MAX);
    const numbers = new Float64Array(buckets * this.#stride);
    numbers.set(this.#numbers);
    this.#numbers = numbers;
  }

  /** Where each bucket begins, oldest first. */
  #overlapping({ startSeconds, endSeconds }: Window): number[] {
    const places: number[] = [];
    for (let at = 0; at < this.#length; at += this.#stride) {
      const bucketStart = this.#number(at + START);
      if (bucketStart <= endSeconds && bucketStart + BUCKET_SECONDS > startSeconds) places.push(at);
    }
    return places;
  }

  #joined(value: number, next: number): number {
    return this.#aggregation === 'last' ? next : value + next;
  }

  #number(at: number): number {
    return this.#numbers[at] ?? 0;
  }
}

import type { Aggregation } from '../metrics/aggregation.ts';

/*
  One metric of one instance over time: the total since the master started, and one bucket for each
  minute in which something arrived. The time of arrival picks the bucket. Memory is bounded by
  BUCKETS_MAX buckets of two numbers and a start.
*/

/** Both values are Heron's: three hours of minutes. */
export const BUCKET_SECONDS = 60;
const BUCKETS_MAX = 180;

/** Seconds of the wall clock; a bucket counts when it overlaps. */
export interface Window {
  readonly startSeconds: number;
  readonly endSeconds: number;
}

export interface BucketValue extends Window {
  readonly value: number;
}

interface Bucket {
  readonly startSeconds: number;
  sum: number;
  count: number;
  last: number;
}

export class MetricSeries {
  readonly #aggregation: Aggregation;
  /** Oldest first. */
  readonly #buckets: Bucket[] = [];
  readonly #total: Bucket = emptyBucket(0);

  constructor(aggregation: Aggregation) {
    this.#aggregation = aggregation;
  }

  add(value: number, nowSeconds: number): void {
    record(this.#total, value);
    record(this.#bucketFor(nowSeconds), value);
  }

  /** Over all time, also what is older than the buckets. */
  total(): number {
    return this.#valueOf([this.#total]);
  }

  /** NaN for an average of nothing. */
  over(window: Window): number {
    return this.#valueOf(this.#overlapping(window));
  }

  /** Newest first. */
  bucketsIn(window: Window): BucketValue[] {
    const buckets = this.#overlapping(window).toReversed();
    return buckets.map((bucket) => ({
      value: this.#valueOf([bucket]),
      startSeconds: bucket.startSeconds,
      endSeconds: bucket.startSeconds + BUCKET_SECONDS,
    }));
  }

  #bucketFor(nowSeconds: number): Bucket {
    const newest = this.#buckets.at(-1);
    const startSeconds = Math.floor(nowSeconds / BUCKET_SECONDS) * BUCKET_SECONDS;
    // A wall clock that was set back goes on filling the newest bucket: their order must hold.
    if (newest !== undefined && startSeconds <= newest.startSeconds) return newest;
    const made = emptyBucket(startSeconds);
    this.#buckets.push(made);
    if (this.#buckets.length > BUCKETS_MAX) this.#buckets.shift();
    return made;
  }

  #overlapping({ startSeconds, endSeconds }: Window): Bucket[] {
    return this.#buckets.filter(
      (bucket) =>
        bucket.startSeconds <= endSeconds && bucket.startSeconds + BUCKET_SECONDS > startSeconds,
    );
  }

  #valueOf(buckets: readonly Bucket[]): number {
    if (this.#aggregation === 'last') return buckets.at(-1)?.last ?? 0;
    const sum = buckets.reduce((all, bucket) => all + bucket.sum, 0);
    if (this.#aggregation === 'sum') return sum;
    return sum / buckets.reduce((all, bucket) => all + bucket.count, 0);
  }
}

function emptyBucket(startSeconds: number): Bucket {
  return { startSeconds, sum: 0, count: 0, last: 0 };
}

function record(bucket: Bucket, value: number): void {
  bucket.sum += value;
  bucket.count += 1;
  bucket.last = value;
}

/* Latencies in buckets of at most 3 % width: 32 per power of two, up to 2^24 microseconds. */

const BUCKETS_PER_POWER = 32;
const POWERS = 24;

/** Index 0 holds everything below one microsecond. */
function bucketOf(micros: number): number {
  if (micros < 1) return 0;
  return Math.min(
    Math.floor(Math.log2(micros) * BUCKETS_PER_POWER) + 1,
    BUCKETS_PER_POWER * POWERS,
  );
}

/** The upper edge of a bucket, in microseconds. */
export function microsOf(bucket: number): number {
  return 2 ** (bucket / BUCKETS_PER_POWER);
}

export class LatencyHistogram {
  #counts = new Map<number, number>();

  record(micros: number): void {
    const bucket = bucketOf(micros);
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1);
  }

  /** Counts by bucket since the last call. */
  takeBuckets(): [bucket: number, count: number][] {
    const counts = [...this.#counts];
    this.#counts = new Map();
    return counts;
  }
}

import fc from 'fast-check';
import { Histogram } from '../../src/metrics/histogram.ts';

/** Nanoseconds of any size, with those at the edges of buckets. */
export const latency = fc.oneof(
  fc.double({ min: 0, max: 2 ** 47, noNaN: true }),
  fc.integer({ min: 0, max: 5_000 }),
  fc.integer({ min: 0, max: 46 }).map((power) => 2 ** power),
);
export const latencies = fc.array(latency, { minLength: 1, maxLength: 200 });

export function histogramOf(values: readonly number[]): Histogram {
  const histogram = new Histogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

export function bucketsOf(histogram: Histogram): [number, number][] {
  const buckets: [number, number][] = [];
  histogram.forEach((index, count) => buckets.push([index, count]));
  return buckets;
}

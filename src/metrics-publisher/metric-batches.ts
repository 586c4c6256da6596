import { encodeHistogram } from '../metrics/histogram-bytes.ts';
import type { CollectedHistogram, Metric } from '../metrics/metrics-registry.ts';

/** A quarter of what a metrics manager takes in one packet by default. */
const MESSAGE_BYTES_MAX = 256 * 1024;
/** Tags and lengths of one metric in its message. */
const OVERHEAD_BYTES = 15;

/** Cuts a list of metrics into parts that each fit into one message. */
export function* inMessages(metrics: readonly Metric[]): Generator<readonly Metric[]> {
  let part: Metric[] = [];
  let bytes = 0;
  for (const metric of metrics) {
    const size = Buffer.byteLength(metric.name) + metric.value.length + OVERHEAD_BYTES;
    if (part.length > 0 && bytes + size > MESSAGE_BYTES_MAX) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(metric);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/** A histogram in its message. */
export interface EncodedHistogram {
  readonly name: string;
  readonly buckets: Uint8Array;
}

/** The same for histograms, each of which takes a few hundred bytes and at most some thousands. */
export function* inHistogramMessages(
  histograms: readonly CollectedHistogram[],
): Generator<readonly EncodedHistogram[]> {
  let part: EncodedHistogram[] = [];
  let bytes = 0;
  for (const { name, histogram } of histograms) {
    const buckets = encodeHistogram(histogram);
    const size = Buffer.byteLength(name) + buckets.length + OVERHEAD_BYTES;
    if (part.length > 0 && bytes + size > MESSAGE_BYTES_MAX) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push({ name, buckets });
    bytes += size;
  }
  if (part.length > 0) yield part;
}

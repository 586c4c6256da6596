import type { Metric } from '../metrics/metrics-registry.ts';

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

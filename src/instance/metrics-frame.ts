import type { DrainedMetrics } from '../metrics/metrics-registry.ts';

/*
  A frame of the metrics ring: the drained counts of a task as JSON text, in portions that fit the
  ring. Rare and small, so plain.
*/

/** With names of up to 200 bytes a frame stays below 32 KiB, half of the metrics ring. */
const ENTRIES_MAX = 100;

export function* encodeMetricsFrames(drained: DrainedMetrics): Generator<Uint8Array> {
  const { counters, means } = drained;
  for (let at = 0; at < counters.length; at += ENTRIES_MAX) {
    yield encode({ counters: counters.slice(at, at + ENTRIES_MAX), means: [] });
  }
  for (let at = 0; at < means.length; at += ENTRIES_MAX) {
    yield encode({ counters: [], means: means.slice(at, at + ENTRIES_MAX) });
  }
}

export function decodeMetricsFrame(frame: Uint8Array): DrainedMetrics {
  // Both ends are this process.
  return JSON.parse(Buffer.from(frame).toString('utf8')) as DrainedMetrics;
}

function encode(drained: DrainedMetrics): Uint8Array {
  return Buffer.from(JSON.stringify(drained));
}

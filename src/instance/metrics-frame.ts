import type { DrainedMetrics } from '../metrics/metrics-registry.ts';

/*
  A frame of the metrics ring: the drained counts of a task as JSON text, in portions that fit the
  ring. Rare and small, so plain.
*/

/** Frames of at most `bytesMax`; a single count with a longer name than that is left out. */
export function* encodeMetricsFrames(
  drained: DrainedMetrics,
  bytesMax: number,
): Generator<Uint8Array> {
  const { counters, means } = drained;
  const entries = counters.length + means.length;
  if (entries === 0) return;
  const frame = Buffer.from(JSON.stringify(drained));
  if (frame.length <= bytesMax) yield frame;
  else if (entries > 1) {
    const counterHalf = counters.length >> 1;
    const meanHalf = (means.length + 1) >> 1;
    const first = { counters: counters.slice(0, counterHalf), means: means.slice(0, meanHalf) };
    const second = { counters: counters.slice(counterHalf), means: means.slice(meanHalf) };
    yield* encodeMetricsFrames(first, bytesMax);
    yield* encodeMetricsFrames(second, bytesMax);
  }
}

export function decodeMetricsFrame(frame: Uint8Array): DrainedMetrics {
  // Both ends are this process.
  return JSON.parse(Buffer.from(frame).toString('utf8')) as DrainedMetrics;
}

import type { DrainedMetrics } from '../metrics/metrics-registry.ts';

/*
  A frame of the metrics ring: the drained numbers of a task as JSON text, in portions that fit the
  ring. Rare and small, so plain.

      [["c", name, value], ["m", name, sum, count], ["v", name, value], …]
*/

type Entry =
  | readonly ['c', name: string, value: number]
  | readonly ['m', name: string, sum: number, count: number]
  | readonly ['v', name: string, value: number];

/** Frames of at most `bytesMax`; a single number with a longer name than that is left out. */
export function encodeMetricsFrames(
  { counters, means, values }: DrainedMetrics,
  bytesMax: number,
): Generator<Uint8Array> {
  return framesOf(
    [
      ...counters.map(([name, value]): Entry => ['c', name, value]),
      ...means.map(([name, sum, count]): Entry => ['m', name, sum, count]),
      ...values.map(([name, value]): Entry => ['v', name, value]),
    ],
    bytesMax,
  );
}

function* framesOf(entries: readonly Entry[], bytesMax: number): Generator<Uint8Array> {
  if (entries.length === 0) return;
  const frame = Buffer.from(JSON.stringify(entries));
  if (frame.length <= bytesMax) yield frame;
  else if (entries.length > 1) {
    const half = entries.length >> 1;
    yield* framesOf(entries.slice(0, half), bytesMax);
    yield* framesOf(entries.slice(half), bytesMax);
  }
}

export function decodeMetricsFrame(frame: Uint8Array): DrainedMetrics {
  // Both ends are this process.
  const entries = JSON.parse(Buffer.from(frame).toString('utf8')) as readonly Entry[];
  const drained = {
    counters: [] as [string, number][],
    means: [] as [string, number, number][],
    values: [] as [string, number][],
  };
  for (const entry of entries) {
    if (entry[0] === 'c') drained.counters.push([entry[1], entry[2]]);
    else if (entry[0] === 'm') drained.means.push([entry[1], entry[2], entry[3]]);
    else drained.values.push([entry[1], entry[2]]);
  }
  return drained;
}

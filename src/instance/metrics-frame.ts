import type { DrainedMetrics } from '../metrics/metrics-registry.ts';

/*
  A frame of the metrics ring: the drained numbers of a task as JSON text, in portions that fit the
  ring. Rare and small, so plain.

      [["c", name, value], ["m", name, sum, count], ["v", name, value], ["h", name, bytes], …]

  The bytes of a histogram are base64. Finished spans come in frames of the same form:

      [["s", span in OTLP's JSON], …]
*/

type Entry =
  | readonly ['c', name: string, value: number]
  | readonly ['m', name: string, sum: number, count: number]
  | readonly ['v', name: string, value: number]
  | readonly ['h', name: string, bytes: string]
  | readonly ['s', span: string];

/** Frames of at most `bytesMax`; a single number with a longer name than that is left out. */
export function encodeMetricsFrames(
  { counters, means, values, histograms }: DrainedMetrics,
  bytesMax: number,
): Generator<Uint8Array> {
  return framesOf(
    [
      ...counters.map(([name, value]): Entry => ['c', name, value]),
      ...means.map(([name, sum, count]): Entry => ['m', name, sum, count]),
      ...values.map(([name, value]): Entry => ['v', name, value]),
      ...histograms.map(([name, bytes]): Entry => ['h', name, base64Of(bytes)]),
    ],
    bytesMax,
  );
}

/** The same for spans. */
export function encodeSpanFrames(
  spans: readonly string[],
  bytesMax: number,
): Generator<Uint8Array> {
  return framesOf(
    spans.map((span): Entry => ['s', span]),
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

/** What one frame holds. */
export interface MetricsFrame extends DrainedMetrics {
  readonly spans: readonly string[];
}

export function decodeMetricsFrame(frame: Uint8Array): MetricsFrame {
  // Both ends are this process.
  const entries = JSON.parse(Buffer.from(frame).toString('utf8')) as readonly Entry[];
  const drained = {
    counters: [] as [string, number][],
    means: [] as [string, number, number][],
    values: [] as [string, number][],
    histograms: [] as [string, Uint8Array][],
    spans: [] as string[],
  };
  for (const entry of entries) {
    if (entry[0] === 'c') drained.counters.push([entry[1], entry[2]]);
    else if (entry[0] === 'm') drained.means.push([entry[1], entry[2], entry[3]]);
    else if (entry[0] === 'v') drained.values.push([entry[1], entry[2]]);
    else if (entry[0] === 's') drained.spans.push(entry[1]);
    else drained.histograms.push([entry[1], Buffer.from(entry[2], 'base64')]);
  }
  return drained;
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

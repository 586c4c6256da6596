import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { microsOf } from './latency-histogram.ts';

/* Reads what the measured bolts wrote (job.ts). */

/** What the names of the bolts' files begin with. */
const BOLTS = 'samples-';

interface Sample {
  readonly atMicros: number;
  readonly executed: number;
  readonly failed?: number;
  readonly micros?: readonly (readonly [bucket: number, count: number])[];
}

/** From each task's own counts at both ends, interpolated between its samples. */
export function wordsPerSecond(
  folder: string,
  fromMicros: number,
  toMicros: number,
  prefix: string = BOLTS,
): number {
  let words = 0;
  for (const samples of readTasks(folder, prefix)) {
    words += executedAt(samples, toMicros) - executedAt(samples, fromMicros);
  }
  return words / ((toMicros - fromMicros) / 1e6);
}

/** The first moment at which some word had been executed. */
export function firstWordMicros(folder: string): number | undefined {
  const firsts = readTasks(folder)
    .map((samples) => samples.find(({ executed }) => executed > 0)?.atMicros)
    .filter((at) => at !== undefined);
  return firsts.length === 0 ? undefined : Math.min(...firsts);
}

export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly words: number;
}

/** `prefix` is that of the files of those tasks that measure it. */
export function latency(
  folder: string,
  fromMicros: number,
  toMicros: number,
  prefix: string = BOLTS,
): Latency {
  const counts = new Map<number, number>();
  for (const sample of readTasks(folder, prefix).flat()) {
    if (sample.atMicros < fromMicros || sample.atMicros > toMicros) continue;
    for (const [bucket, count] of sample.micros ?? []) {
      counts.set(bucket, (counts.get(bucket) ?? 0) + count);
    }
  }
  const buckets = [...counts].toSorted(([left], [right]) => left - right);
  const words = buckets.reduce((sum, [, count]) => sum + count, 0);
  const quantile = (part: number): number => {
    let left = words * part;
    for (const [bucket, count] of buckets) {
      left -= count;
      if (left <= 0) return microsOf(bucket) / 1000;
    }
    return Number.NaN;
  };
  return { p50Ms: quantile(0.5), p99Ms: quantile(0.99), p999Ms: quantile(0.999), words };
}

/** The sum of a count over all tasks, as it was at last. */
export function lastOf(folder: string, count: 'executed' | 'failed', prefix: string): number {
  const lasts = readTasks(folder, prefix).map((samples) => samples.at(-1)?.[count] ?? 0);
  return lasts.reduce((sum, last) => sum + last, 0);
}

function readTasks(folder: string, prefix: string = BOLTS): Sample[][] {
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix))
    .map((name) =>
      readFileSync(join(folder, name), 'utf8')
        .split('\n')
        .slice(0, -1) // The last piece is empty, or half of a line that is being written.
        .map((line) => JSON.parse(line) as Sample),
    );
}

function executedAt(samples: readonly Sample[], atMicros: number): number {
  const after = samples.findIndex((sample) => sample.atMicros >= atMicros);
  const next = samples[after];
  const last = samples[after - 1];
  if (next === undefined) throw new Error('the window ends after the last sample');
  if (last === undefined) return next.executed;
  const part = (atMicros - last.atMicros) / (next.atMicros - last.atMicros);
  return last.executed + part * (next.executed - last.executed);
}

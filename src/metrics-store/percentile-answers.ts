import type { Histogram } from '../metrics/histogram.ts';
import type { HistogramLog } from './histogram-log.ts';
import { BUCKET_SECONDS, type BucketValue, type Window } from './metric-series.ts';

/*
  Percentiles of a whole component, of which a question asks by the metric's name with the
  percentile behind it, `__execute-latency/split/default/p99`, and by the instance ALL_TASKS. They
  are told from one distribution of all its tasks, and never made of percentiles.
*/

/** In the place of an instance's id. */
export const ALL_TASKS = '*';

/** As other sinks of a metrics manager name them (metrics-manager/percentiles.ts). */
const SHARES: ReadonlyMap<string, number> = new Map([
  ['p50', 0.5],
  ['p90', 0.9],
  ['p99', 0.99],
  ['p999', 0.999],
]);
const MAX = 'max';

export interface PercentileQuestion {
  readonly component: string;
  /** As asked for; other names have no answer. */
  readonly name: string;
  readonly window: Window;
}

export interface PercentileAnswer {
  readonly value: number;
  /** Newest first; each is told when it is asked for. */
  readonly minutes: () => readonly BucketValue[];
}

export function percentileOf(
  log: HistogramLog,
  { component, name, window }: PercentileQuestion,
): PercentileAnswer | undefined {
  const slash = name.lastIndexOf('/');
  const metric = name.slice(0, Math.max(0, slash));
  const percentile = name.slice(slash + 1);
  if (percentile !== MAX && !SHARES.has(percentile)) return undefined;
  const whole = log.over(component, metric, window);
  if (whole === undefined) return undefined;
  return {
    value: read(whole, percentile),
    minutes: () =>
      log.minutesIn(component, metric, window).map(({ startSeconds, histogram }) => ({
        value: read(histogram, percentile),
        startSeconds,
        endSeconds: startSeconds + BUCKET_SECONDS,
      })),
  };
}

function read(histogram: Histogram, percentile: string): number {
  const share = SHARES.get(percentile);
  return share === undefined ? histogram.max : histogram.percentile(share);
}

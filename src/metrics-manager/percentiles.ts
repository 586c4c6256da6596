import type { CollectedHistogram, Metric } from '../metrics/metrics-registry.ts';

/* Histograms for sinks that know single numbers only. */

const SHARES = [
  ['p50', 0.5],
  ['p90', 0.9],
  ['p99', 0.99],
  ['p999', 0.999],
] as const;

/** `<name>/p50` to `<name>/p999` and `<name>/max`, in the unit of what was recorded. */
export function percentilesOf(histograms: readonly CollectedHistogram[] = []): readonly Metric[] {
  return histograms.flatMap(({ name, histogram }) => [
    ...SHARES.map(([key, share]): Metric => {
      return { name: `${name}/${key}`, value: String(histogram.percentile(share)), kind: 'value' };
    }),
    { name: `${name}/max`, value: String(histogram.max), kind: 'value' } as const,
  ]);
}

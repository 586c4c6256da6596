/*
  What it costs to record one latency in a histogram, next to adding it to a mean; and to hand a
  histogram on. The latencies are long-tailed, as they are, and more of them than a cache holds.

  Left out: reading the clock, which costs more than either.

  Run: node bench/histogram.ts
*/
import { createSeededRandom } from '../src/base/random.ts';
import { Histogram } from '../src/metrics/histogram.ts';
import { decodeHistogram, encodeHistogram } from '../src/metrics/histogram-bytes.ts';
import { Mean } from '../src/metrics/metrics-registry.ts';

const NUMBERS = 1 << 20;
const ROUNDS = 15;

const random = createSeededRandom(1);
const latencies = Float64Array.from({ length: NUMBERS }, () => {
  const uniform = (random.below(1_000_000) + 1) / 1_000_001;
  return 400 / uniform ** 1.3;
});

/** The quickest of some rounds: the others were disturbed. */
function nanosecondsEach(calls: number, run: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    const startMs = performance.now();
    run();
    best = Math.min(best, performance.now() - startMs);
  }
  return (best * 1e6) / calls;
}

const histogram = new Histogram();
const mean = new Mean();
const total = new Histogram();
const bytes = encodeHistogram(filled());

function filled(): Histogram {
  const made = new Histogram();
  for (const latency of latencies) made.record(latency);
  return made;
}

const rows: readonly (readonly [string, number])[] = [
  [
    'record',
    nanosecondsEach(NUMBERS, () => {
      for (let at = 0; at < NUMBERS; at += 1) histogram.record(latencies[at] ?? 0);
    }),
  ],
  [
    'mean',
    nanosecondsEach(NUMBERS, () => {
      for (let at = 0; at < NUMBERS; at += 1) mean.observe(latencies[at] ?? 0);
    }),
  ],
  ['add', nanosecondsEach(1, () => total.add(histogram))],
  ['encode', nanosecondsEach(1, () => void encodeHistogram(histogram))],
  ['decode', nanosecondsEach(1, () => void decodeHistogram(bytes))],
];
for (const [name, ns] of rows) console.log(`${name.padEnd(8)} ${ns.toFixed(1).padStart(9)} ns`);
console.log(`${bytes.length} bytes encoded, ${NUMBERS} numbers in it`);

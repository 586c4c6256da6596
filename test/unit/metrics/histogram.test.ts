import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bucketsOf, histogramOf, latencies, latency } from '../../support/histograms.ts';

test('a percentile is off by no more than one part in 64', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(latencies, share, (values, wanted) => {
      const sorted = values.toSorted((one, other) => one - other);
      const exact = sorted[Math.max(1, Math.ceil(wanted * values.length)) - 1] ?? Number.NaN;
      const told = histogramOf(values).percentile(wanted);
      const isClose = exact < 1 ? told < 1 : Math.abs(told - exact) <= exact / 64;
      assert.ok(isClose, `${told} for ${exact}`);
    }),
  );
});

test('count, sum and largest are exact', () => {
  const histogram = histogramOf([3, 1, 1_000_000, 0.5]);
  assert.deepEqual([histogram.count, histogram.sum, histogram.max], [4, 1_000_004.5, 1_000_000]);
  assert.equal(histogram.percentile(1), 1_000_000);
});

test('two histograms are the histogram of all numbers (B1)', () => {
  fc.assert(
    fc.property(latencies, latencies, (ours, others) => {
      const sum = histogramOf(ours);
      sum.add(histogramOf(others));
      const all = histogramOf([...ours, ...others]);
      assert.deepEqual(bucketsOf(sum), bucketsOf(all));
      assert.deepEqual([sum.count, sum.max], [all.count, all.max]);
    }),
  );
});

test('counts up to a bound grow with it, and miss no bucket but that of the bound', () => {
  fc.assert(
    fc.property(latencies, latency, (values, bound) => {
      const histogram = histogramOf(values);
      const told = histogram.countUpTo(bound);
      const surely = values.filter((value) => value < bound - bound / 32 - 1).length;
      const atMost = values.filter((value) => value < bound).length;
      assert.ok(told >= surely && told <= atMost, `${surely} ≤ ${told} ≤ ${atMost}`);
      assert.ok(histogram.countUpTo(bound * 2) >= told);
    }),
  );
});

test('what is no number above 0 counts as 0, and what is huge in the last bucket', () => {
  const odd = histogramOf([-1, Number.NaN, Number.POSITIVE_INFINITY, -0, 0.999]);
  assert.deepEqual(bucketsOf(odd), [[0, 5]]);
  const huge = histogramOf([2 ** 48, 1e300, Number.MAX_VALUE]);
  assert.deepEqual(
    bucketsOf(huge).map(([index]) => index),
    [1536],
  );
});

test('edges: the powers of two begin a bucket', () => {
  for (let power = 0; power < 48; power += 1) {
    assert.deepEqual(bucketsOf(histogramOf([2 ** power])), [[1 + 32 * power, 1]]);
  }
});

test('nothing was recorded', () => {
  const histogram = histogramOf([7]);
  histogram.clear();
  assert.ok(Number.isNaN(histogram.percentile(0.5)));
  assert.deepEqual([histogram.count, histogram.sum, histogram.max], [0, 0, 0]);
  assert.deepEqual(bucketsOf(histogram), []);
});

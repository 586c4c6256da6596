import assert from 'node:assert/strict';
import { test } from 'node:test';
import { percentilesOf } from '../../../src/metrics-manager/percentiles.ts';
import { histogramOf } from '../../support/histograms.ts';

test('a histogram as single numbers', () => {
  const histogram = histogramOf(Array.from({ length: 1_000 }, (_, index) => index + 1));
  const told = percentilesOf([{ name: '__execute-latency/a', histogram }]);
  const exact = { p50: 500, p90: 900, p99: 990, p999: 999, max: 1_000 };
  assert.deepEqual(
    told.map(({ name, kind }) => [name, kind]),
    Object.keys(exact).map((key) => [`__execute-latency/a/${key}`, 'value']),
  );
  for (const [index, value] of Object.values(exact).entries()) {
    assert.ok(Math.abs(Number(told[index]?.value) - value) <= value / 64);
  }
  assert.deepEqual(percentilesOf(), []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Histogram } from '../../../src/metrics/histogram.ts';
import { decodeHistogram, encodeHistogram } from '../../../src/metrics/histogram-bytes.ts';
import { bucketsOf, histogramOf, latencies } from '../../support/histograms.ts';

test('bytes are the same histogram again', () => {
  fc.assert(
    fc.property(latencies, (values) => {
      const histogram = histogramOf(values);
      const again = decodeHistogram(encodeHistogram(histogram));
      assert.ok(again);
      assert.deepEqual(bucketsOf(again), bucketsOf(histogram));
      assert.deepEqual(
        [again.count, again.sum, again.max],
        [histogram.count, histogram.sum, histogram.max],
      );
    }),
  );
});

test('a count of many bytes survives', () => {
  const histogram = Histogram.of([[7, 2 ** 53 - 1]], { sum: 1, max: 1 });
  assert.ok(histogram);
  const again = decodeHistogram(encodeHistogram(histogram));
  assert.deepEqual(again && bucketsOf(again), [[7, 2 ** 53 - 1]]);
});

test('bytes that are cut or made up are no histogram, or a sound one', () => {
  const bytes = encodeHistogram(histogramOf([1, 5, 5, 900, 1e9]));
  for (let length = 0; length < bytes.length; length += 1) {
    decodeHistogram(bytes.subarray(0, length));
  }
  assert.equal(decodeHistogram(bytes.subarray(0, 16)), undefined);
  assert.equal(decodeHistogram(bytes.subarray(0, bytes.length - 1)), undefined);
  assert.equal(decodeHistogram(Uint8Array.from([2, ...bytes.subarray(1)])), undefined);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (foreign) => {
      const made = decodeHistogram(Uint8Array.from([1, ...foreign]));
      if (made !== undefined) assert.ok(Number.isFinite(made.sum) && made.count >= 0);
    }),
  );
});

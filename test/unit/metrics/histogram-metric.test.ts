import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HistogramMetric, MultiHistogramMetric } from '../../../src/metrics/histogram-metric.ts';
import { reported } from '../../support/reported-metrics.ts';

test('a histogram reports what was recorded since the last time', () => {
  const metric = new HistogramMetric();
  assert.deepEqual(reported(metric), [], 'nothing yet');
  metric.record(5);
  metric.record(400);
  assert.deepEqual(reported(metric), ['histogram 2 up to 400']);
  metric.record(7);
  assert.deepEqual(reported(metric), ['histogram 1 up to 7']);
});

test('histograms have names, and one of a name', () => {
  const metric = new MultiHistogramMetric();
  metric.scope('read').record(3);
  metric.scope('write').record(4);
  metric.scope('read').record(8);
  assert.deepEqual(reported(metric), ['read: histogram 2 up to 8', 'write: histogram 1 up to 4']);
});

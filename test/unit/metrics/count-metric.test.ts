import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CountMetric } from '../../../src/metrics/count-metric.ts';

test('each count is taken once', () => {
  const metric = new CountMetric();
  metric.incr();
  metric.incr(5);
  assert.equal(metric.takeValue(), 6);
  assert.equal(metric.takeValue(), 0);
  metric.incr();
  assert.equal(metric.takeValue(), 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CountMetric,
  CumulativeCountMetric,
  MultiCountMetric,
} from '../../../src/metrics/count-metric.ts';
import { reported } from '../../support/reported-metrics.ts';

test('each count is reported once', () => {
  const metric = new CountMetric();
  metric.incr();
  metric.incr(5);
  assert.deepEqual(reported(metric), ['count 6']);
  assert.deepEqual(reported(metric), ['count 0']);
  metric.incr();
  assert.deepEqual(reported(metric), ['count 1']);
});

test('several are counted by name', () => {
  const metric = new MultiCountMetric();
  metric.scope('parse').incr();
  metric.scope('send').incr(2);
  metric.scope('parse').incr();
  assert.deepEqual(reported(metric), ['parse: count 2', 'send: count 2']);
  assert.deepEqual(reported(metric), ['parse: count 0', 'send: count 0']);
});

test('a cumulative count never starts again', () => {
  const metric = new CumulativeCountMetric();
  metric.incr();
  assert.deepEqual(reported(metric), ['value 1']);
  metric.incr(2);
  assert.deepEqual(reported(metric), ['value 3']);
});

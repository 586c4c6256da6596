import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  MeanMetric,
  MultiMeanMetric,
  MultiReducedMetric,
  ReducedMetric,
  type Reducer,
} from '../../../src/metrics/reduced-metric.ts';
import { reported } from '../../support/reported-metrics.ts';

const LARGEST: Reducer<number, number | undefined> = {
  start: () => undefined,
  reduce: (largest, value) => (largest === undefined ? value : Math.max(largest, value)),
  result: (largest) => largest,
};

test('what was reduced is reported once, and nothing without inputs', () => {
  const metric = new ReducedMetric(LARGEST);
  assert.deepEqual(reported(metric), []);
  for (const value of [2, 9, 4]) metric.update(value);
  assert.deepEqual(reported(metric), ['value 9']);
  metric.update(1);
  assert.deepEqual(reported(metric), ['value 1']);
  assert.deepEqual(reported(metric), []);
});

test('several are reduced by name', () => {
  const metric = new MultiReducedMetric(LARGEST);
  metric.scope('a').update(1);
  metric.scope('b').update(2);
  metric.scope('a').update(3);
  assert.deepEqual(reported(metric), ['a: value 3', 'b: value 2']);
});

test('a mean reports its sum and how many there were', () => {
  const metric = new MeanMetric();
  assert.deepEqual(reported(metric), []);
  metric.update(4);
  metric.update(6);
  assert.deepEqual(reported(metric), ['mean 10/2']);
  assert.deepEqual(reported(metric), []);
});

test('several means have names', () => {
  const metric = new MultiMeanMetric();
  metric.scope('a').update(1);
  metric.scope('b').update(2);
  metric.scope('a').update(3);
  assert.deepEqual(reported(metric), ['a: mean 4/2', 'b: mean 2/1']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AssignableMetric, MultiAssignableMetric } from '../../../src/metrics/assignable-metric.ts';
import { reported } from '../../support/reported-metrics.ts';

test('a value is reported as it is, again and again', () => {
  const metric = new AssignableMetric(3);
  assert.deepEqual(reported(metric), ['value 3']);
  metric.value = 7;
  assert.deepEqual(reported(metric), ['value 7']);
  assert.deepEqual(reported(metric), ['value 7']);
});

test('several values have names', () => {
  const metric = new MultiAssignableMetric();
  metric.scope('first').value = 1;
  metric.scope('second').value = 2;
  metric.scope('first').value = 3;
  assert.deepEqual(reported(metric), ['first: value 3', 'second: value 2']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type LatencyAverages,
  LatencyStatMetric,
} from '../../../src/metrics/latency-stat-metric.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { reported } from '../../support/reported-metrics.ts';

const MINUTE_MS = 60_000;

test('the average since the last time is reported', () => {
  const clock = new ManualClock();
  const metric = new LatencyStatMetric(clock);
  const stop = metric.start();
  clock.advance(30);
  stop();
  metric.record(10);
  assert.deepEqual(reported(metric), ['mean 40/2']);
  assert.deepEqual(reported(metric), []);
});

test('averages are those of the last ten minutes, three hours, day, and of all', () => {
  const clock = new ManualClock();
  const metric = new LatencyStatMetric(clock);
  const nothing = { tenMinutes: undefined, threeHours: undefined, day: undefined };
  const averages = (): LatencyAverages => metric.averages;
  assert.deepEqual(averages(), { ...nothing, all: undefined });
  metric.record(100);
  clock.advance(9 * MINUTE_MS);
  metric.record(200);
  assert.deepEqual(averages(), { tenMinutes: 150, threeHours: 150, day: 150, all: 150 });
  clock.advance(2 * MINUTE_MS);
  assert.equal(averages().tenMinutes, 200);
  clock.advance(60 * MINUTE_MS);
  assert.deepEqual(averages(), { tenMinutes: undefined, threeHours: 150, day: 150, all: 150 });
  clock.advance(25 * 60 * MINUTE_MS);
  assert.deepEqual(averages(), { ...nothing, all: 150 });
});

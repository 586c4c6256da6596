import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricSeries } from '../../../src/metrics-store/metric-series.ts';

const WINDOW = { startSeconds: 600, endSeconds: 719 };

test('a sum adds up in total, over a window and for each minute', () => {
  const series = new MetricSeries('sum');
  series.add(1, 500);
  series.add(2, 605);
  series.add(3, 655);
  series.add(4, 661);
  assert.equal(series.total(), 10);
  assert.equal(series.over(WINDOW), 9);
  assert.deepEqual(series.bucketsIn(WINDOW), [
    { value: 4, startSeconds: 660, endSeconds: 720 },
    { value: 5, startSeconds: 600, endSeconds: 660 },
  ]);
});

test('an average weighs every value alike, whatever its bucket', () => {
  const series = new MetricSeries('average');
  for (const [value, second] of [
    [1, 600],
    [2, 601],
    [9, 661],
  ] as const) {
    series.add(value, second);
  }
  assert.equal(series.total(), 4);
  assert.equal(series.over(WINDOW), 4);
  assert.deepEqual(
    series.bucketsIn(WINDOW).map(({ value }) => value),
    [9, 1.5],
  );
});

test('the last value stays the last', () => {
  const series = new MetricSeries('last');
  series.add(5, 600);
  series.add(3, 661);
  series.add(4, 662);
  assert.equal(series.total(), 4);
  assert.equal(series.over(WINDOW), 4);
});

test('nothing in a window: 0, and no number for an average', () => {
  const window = { startSeconds: 1, endSeconds: 2 };
  assert.equal(new MetricSeries('sum').over(window), 0);
  assert.equal(new MetricSeries('last').over(window), 0);
  assert.ok(Number.isNaN(new MetricSeries('average').over(window)));
  assert.deepEqual(new MetricSeries('sum').bucketsIn(window), []);
});

test('three hours are kept by the minute, the total for ever', () => {
  const series = new MetricSeries('sum');
  for (let minute = 0; minute < 1_000; minute += 1) series.add(1, minute * 60);
  const everything = { startSeconds: 0, endSeconds: 1_000_000 };
  assert.equal(series.bucketsIn(everything).length, 180);
  assert.equal(series.over(everything), 180);
  assert.equal(series.total(), 1_000);
});

test('an average is kept by the minute as well', () => {
  const series = new MetricSeries('average');
  for (let minute = 0; minute < 200; minute += 1) {
    series.add(minute, minute * 60);
    series.add(minute + 1, minute * 60 + 59);
  }
  const [newest, ...older] = series.bucketsIn({ startSeconds: 0, endSeconds: 1_000_000 });
  assert.deepEqual(newest, { value: 199.5, startSeconds: 11_940, endSeconds: 12_000 });
  assert.deepEqual(older.at(-1), { value: 20.5, startSeconds: 1_200, endSeconds: 1_260 });
  assert.equal(series.over({ startSeconds: 1_260, endSeconds: 1_319 }), 21.5);
  assert.equal(series.total(), 100);
});

test('a wall clock that is set back loses nothing', () => {
  const series = new MetricSeries('sum');
  series.add(1, 600);
  series.add(2, 60);
  assert.equal(series.total(), 3);
  assert.deepEqual(series.bucketsIn(WINDOW), [{ value: 3, startSeconds: 600, endSeconds: 660 }]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Histogram } from '../../../src/metrics/histogram.ts';
import { HistogramLog } from '../../../src/metrics-store/histogram-log.ts';

const METRIC = '__execute-latency/split/default';
const EVERYTHING = { startSeconds: 0, endSeconds: 1_000_000 };

function of(...sizes: readonly number[]): Histogram {
  const histogram = new Histogram();
  for (const size of sizes) histogram.record(size);
  return histogram;
}

test('what several tasks tell adds up: a percentile is one of all of them', () => {
  const log = new HistogramLog();
  log.add('count', METRIC, of(...Array.from({ length: 99 }, () => 10)), 600);
  log.add('count', METRIC, of(1_000), 610);
  log.add('other', METRIC, of(5), 610);
  const merged = log.over('count', METRIC, EVERYTHING) ?? assert.fail('none');
  assert.equal(merged.count, 100);
  // The mean of both tasks' medians would be above 500.
  assert.ok(Math.abs(merged.percentile(0.5) - 10) < 1);
  assert.equal(merged.percentile(1), 1_000);
});

test('a window holds its minutes and no others', () => {
  const log = new HistogramLog();
  for (const minute of [10, 11, 13]) log.add('count', METRIC, of(minute), minute * 60 + 5);
  const window = { startSeconds: 11 * 60, endSeconds: 13 * 60 + 30 };
  const minutes = log.minutesIn('count', METRIC, window);
  assert.deepEqual(
    minutes.map(({ startSeconds, histogram }) => [startSeconds / 60, histogram.max]),
    [
      [13, 13],
      [11, 11],
    ],
  );
  assert.equal(log.over('count', METRIC, window)?.count, 2);
  assert.equal(log.over('count', METRIC, { startSeconds: 720, endSeconds: 730 }), undefined);
  assert.equal(log.over('count', 'unknown', EVERYTHING), undefined);
});

test('D1: three hours are kept, the total goes on', () => {
  const log = new HistogramLog();
  for (let minute = 0; minute < 200; minute += 1) log.add('count', METRIC, of(9), minute * 60);
  const window = { startSeconds: 1, endSeconds: 1_000_000 };
  assert.equal(log.minutesIn('count', METRIC, window).length, 181, '180 and the newest');
  assert.equal(log.over('count', METRIC, EVERYTHING)?.count, 200);
});

test('D1: above its bytes the oldest minutes go, whosever they are', () => {
  const log = new HistogramLog(200);
  log.add('old', METRIC, of(1, 2, 3), 0);
  log.add('old', METRIC, of(1, 2, 3), 60);
  for (let minute = 2; minute < 20; minute += 1) log.add('new', METRIC, of(4), minute * 60);
  assert.ok(log.minuteBytes <= 200, `${log.minuteBytes} bytes`);
  const window = { startSeconds: 1, endSeconds: 1_000_000 };
  assert.deepEqual(log.minutesIn('old', METRIC, { startSeconds: 1, endSeconds: 59 }), []);
  assert.ok(log.minutesIn('new', METRIC, window).length > 5);
});

test('D1: a metric too many is dropped and counted', () => {
  const log = new HistogramLog();
  for (let index = 0; index < 1_002; index += 1) log.add('count', `metric-${index}`, of(1), 60);
  assert.equal(log.dropped, 2);
});

test('D2: a clock that was set back goes on filling the newest minute', () => {
  const log = new HistogramLog();
  log.add('count', METRIC, of(1), 600);
  log.add('count', METRIC, of(2), 300);
  assert.equal(log.over('count', METRIC, { startSeconds: 600, endSeconds: 660 })?.count, 2);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Histogram } from '../../../src/metrics/histogram.ts';
import { ExceptionLog } from '../../../src/metrics-store/exception-log.ts';
import { HistogramLog } from '../../../src/metrics-store/histogram-log.ts';
import { MetricsCollector } from '../../../src/metrics-store/metrics-collector.ts';
import { answerMetrics, type StatsFacts } from '../../../src/metrics-store/stats-answers.ts';
import { QueryMetrics } from '../../../src/wire/messages.ts';

const LATENCY = '__execute-latency/split/default';
const NOW_SECONDS = 6_030;

function facts(dialect: StatsFacts['dialect'] = 'topology-master'): StatsFacts {
  const metrics = new MetricsCollector();
  const source = { component: 'count', instance: 'container_1_count_3' };
  metrics.add(source, { name: LATENCY, value: '7', kind: 'mean' }, NOW_SECONDS);
  const histograms = new HistogramLog();
  for (const [sizes, atSeconds] of [
    [[1, 2, 3], NOW_SECONDS - 60],
    [[100], NOW_SECONDS],
  ] as const) {
    const histogram = new Histogram();
    for (const size of sizes) histogram.record(size);
    histograms.add('count', LATENCY, histogram, atSeconds);
  }
  return {
    metrics,
    histograms,
    exceptions: new ExceptionLog(),
    components: new Set(['count']),
    nowSeconds: NOW_SECONDS,
    sinceSeconds: 0,
    dialect,
  };
}

function ask(
  metric: readonly string[],
  fields: Omit<NonNullable<Parameters<typeof QueryMetrics.request.create>[0]>, '$typeName'> = {},
) {
  const query = { componentName: 'count', metric: [...metric], interval: 0n, ...fields };
  const answer = answerMetrics(QueryMetrics.request.create(query), facts());
  return answer.metric.map(({ instanceId, metric: all }) => [
    instanceId,
    ...all.map(({ name, value, intervalValues }) => {
      const minutes = intervalValues.map(({ value: one, interval }) => [interval?.start, one]);
      return [name, minutes.length > 0 ? minutes : value];
    }),
  ]);
}

test('percentiles of a component are told of all its tasks together', () => {
  const metric = [`${LATENCY}/p50`, `${LATENCY}/max`];
  assert.deepEqual(ask(metric, { instanceId: ['*'] }), [
    ['*', [`${LATENCY}/p50`, '2.031250'], [`${LATENCY}/max`, '100.000000']],
  ]);
});

test('whoever asks for all instances gets them besides', () => {
  assert.deepEqual(ask([LATENCY, `${LATENCY}/max`]), [
    ['container_1_count_3', [LATENCY, '7.000000']],
    ['*', [`${LATENCY}/max`, '100.000000']],
  ]);
});

test('whoever asks for no percentile, or for one instance, gets none', () => {
  const own = ['container_1_count_3', [LATENCY, '7.000000']];
  assert.deepEqual(ask([LATENCY]), [own]);
  const metric = [LATENCY, `${LATENCY}/max`];
  assert.deepEqual(ask(metric, { instanceId: ['container_1_count_3'] }), [own]);
  assert.deepEqual(ask(['max', `${LATENCY}/p12`], { instanceId: ['*'] }), []);
});

test('by the minute, newest first', () => {
  assert.deepEqual(ask([`${LATENCY}/max`], { instanceId: ['*'], minutely: true }), [
    [
      '*',
      [
        `${LATENCY}/max`,
        [
          [6_000n, '100.000000'],
          [5_940n, '3.000000'],
        ],
      ],
    ],
  ]);
});

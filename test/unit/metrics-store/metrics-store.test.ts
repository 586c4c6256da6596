import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeHistogram } from '../../../src/metrics/histogram-bytes.ts';
import { MetricsStore } from '../../../src/metrics-store/metrics-store.ts';
import { PublishMetricsToMaster } from '../../../src/wire/messages.ts';
import { histogramOf } from '../../support/histograms.ts';
import { ManualClock } from '../../support/manual-clock.ts';

test('numbers and exceptions are filed by component and instance, at the time of arrival', () => {
  const statistics = new MetricsStore(new ManualClock(600_000));
  const [componentName, instanceId] = ['word', 'container_1_word_1'];
  statistics.add(
    PublishMetricsToMaster.create({
      metrics: [
        { componentName, instanceId, name: '__emit-count/default', value: '3', timestamp: 5n },
      ],
      exceptions: [
        {
          componentName,
          instanceId,
          hostname: 'h',
          stacktrace: 'A: x',
          firsttime: 'a',
          lasttime: 'b',
          count: 2,
        },
      ],
    }),
  );
  const series = statistics.metrics.component('word')?.get(instanceId)?.get('__emit-count/default');
  assert.equal(series?.over({ startSeconds: 600, endSeconds: 600 }), 3);
  assert.deepEqual(statistics.exceptions.of('word', []), [
    {
      component: 'word',
      instance: instanceId,
      hostname: 'h',
      stackTrace: 'A: x',
      firstTime: 'a',
      lastTime: 'b',
      count: 2,
      logging: '',
    },
  ]);
});

test('distributions are filed by component, and those that cannot be read are passed over', () => {
  const store = new MetricsStore(new ManualClock(600_000));
  const name = '__execute-latency/split/default';
  const of = (instanceId: string, buckets: Uint8Array) => {
    return { componentName: 'word', instanceId, name, buckets };
  };
  const histograms = [
    of('container_1_word_1', encodeHistogram(histogramOf([3]))),
    of('container_1_word_2', encodeHistogram(histogramOf([700]))),
    of('container_1_word_3', new Uint8Array([9])),
  ];
  store.add(PublishMetricsToMaster.create({ histograms }));
  const merged = store.histograms.over('word', name, { startSeconds: 600, endSeconds: 600 });
  assert.deepEqual([merged?.count, merged?.max], [2, 700]);
  assert.equal(store.dropped, 0);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricsStore } from '../../../src/metrics-store/metrics-store.ts';
import { PublishMetricsToMaster } from '../../../src/wire/messages.ts';
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

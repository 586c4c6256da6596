import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricsCollector } from '../../../src/metrics-store/metrics-collector.ts';

const SOURCE = { component: 'word', instance: 'container_1_word_1' };

test('metrics are found by component, instance and name', () => {
  const collector = new MetricsCollector();
  collector.add(SOURCE, { name: '__emit-count/default', value: '3' }, 60);
  collector.add(SOURCE, { name: '__emit-count/default', value: '4' }, 120);
  collector.add(SOURCE, { name: '__execute-latency/default', value: '1.5' }, 60);
  const instances = collector.component('word');
  assert.deepEqual([...(instances?.keys() ?? [])], ['container_1_word_1']);
  const metrics = instances?.get('container_1_word_1');
  assert.equal(metrics?.get('__emit-count/default')?.total(), 7);
  assert.equal(metrics?.get('__execute-latency/default')?.total(), 1.5);
  assert.equal(collector.component('count'), undefined);
});

test('metrics of an unknown kind are not kept', () => {
  const collector = new MetricsCollector();
  collector.add(SOURCE, { name: '__my-own', value: '1' }, 60);
  assert.equal(collector.component('word'), undefined);
  assert.equal(collector.dropped, 0);
});

test('what is no number is dropped', () => {
  const collector = new MetricsCollector();
  for (const value of ['', 'many', 'NaN', 'Infinity']) {
    collector.add(SOURCE, { name: '__emit-count/default', value }, 60);
  }
  assert.equal(collector.dropped, 4);
});

test('an instance has room for so many names, the collector for so many instances', () => {
  const collector = new MetricsCollector();
  for (let stream = 0; stream < 600; stream += 1) {
    collector.add(SOURCE, { name: `__emit-count/${stream}`, value: '1' }, 60);
  }
  assert.equal(collector.component('word')?.get(SOURCE.instance)?.size, 512);
  assert.equal(collector.dropped, 600 - 512);
  for (let instance = 0; instance < 20_010; instance += 1) {
    const source = { component: `c${instance % 7}`, instance: `i${instance}` };
    collector.add(source, { name: '__ack-count/default', value: '1' }, 60);
  }
  assert.equal(collector.dropped, 600 - 512 + 11);
});

test('what users count is kept by its kind', () => {
  const collector = new MetricsCollector();
  const source = { component: 'word', instance: 'one' };
  for (const value of ['3', '5']) {
    collector.add(source, { name: 'queue', value, kind: 'value' }, 60);
    collector.add(source, { name: 'lookup', value, kind: 'mean' }, 60);
    collector.add(source, { name: 'files', value, kind: 'count' }, 60);
  }
  const metrics = collector.component('word')?.get('one');
  assert.deepEqual(
    ['queue', 'lookup', 'files'].map((name) => metrics?.get(name)?.total()),
    [5, 4, 8],
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricsRegistry } from '../../../src/metrics/metrics-registry.ts';

function collected(registry: MetricsRegistry): Record<string, string> {
  return Object.fromEntries(registry.collect().map(({ name, value }) => [name, value]));
}

test('each count is handed out once', () => {
  const registry = new MetricsRegistry();
  const emitted = registry.counter('__emit-count/default');
  emitted.value += 2;
  emitted.add(3);
  assert.deepEqual(collected(registry), { '__emit-count/default': '5' });
  assert.deepEqual(collected(registry), { '__emit-count/default': '0' });
  emitted.add(1);
  assert.deepEqual(collected(registry), { '__emit-count/default': '1' });
});

test('one name is one counter', () => {
  const registry = new MetricsRegistry();
  registry.counter('a').add(1);
  registry.counter('a').add(1);
  assert.deepEqual(collected(registry), { a: '2' });
});

test('a mean starts again after each collection and is absent without observations', () => {
  const registry = new MetricsRegistry();
  const latency = registry.mean('latency');
  assert.deepEqual(collected(registry), {});
  latency.observe(1);
  latency.observe(2);
  assert.deepEqual(collected(registry), { latency: '1.5' });
  assert.deepEqual(collected(registry), {});
  assert.equal(registry.mean('latency'), latency);
});

test('a gauge is read at the moment of collection, and the newest reader wins', () => {
  const registry = new MetricsRegistry();
  let queued = 1;
  registry.gauge('queued', () => queued);
  queued = 7;
  assert.deepEqual(collected(registry), { queued: '7' });
  registry.gauge('queued', () => 0);
  assert.deepEqual(collected(registry), { queued: '0' });
});

test('of values the newest counts, and it stays where it is published', () => {
  const task = new MetricsRegistry();
  const gateway = new MetricsRegistry();
  task.assign('queued', 3);
  task.assign('queued', 4);
  gateway.absorb(task.drain());
  assert.deepEqual(task.drain().values, []);
  assert.deepEqual(collected(gateway), { queued: '4' });
  assert.deepEqual(collected(gateway), { queued: '4' });
  task.assign('queued', 0);
  gateway.absorb(task.drain());
  assert.deepEqual(collected(gateway), { queued: '0' });
});

test('counts and means move from one registry to another, each once', () => {
  const task = new MetricsRegistry();
  const gateway = new MetricsRegistry();
  task.counter('idle');
  task.counter('emitted').add(2);
  task.mean('latency').observe(4);
  gateway.absorb(task.drain());
  assert.deepEqual(task.drain(), { counters: [], means: [], values: [], histograms: [] });
  task.mean('latency').observe(1);
  gateway.absorb(task.drain());
  assert.deepEqual(collected(gateway), { emitted: '2', latency: '2.5' });
});

test('histograms move from one registry to another and add up', () => {
  const task = new MetricsRegistry();
  const gateway = new MetricsRegistry();
  task.histogram('idle');
  task.histogram('latency').record(5, 3);
  gateway.absorb(task.drain());
  assert.deepEqual(task.drain().histograms, [], 'each once');
  task.histogram('latency').record(9);
  gateway.absorb(task.drain());
  const [only, ...others] = gateway.collectHistograms();
  assert.deepEqual(others, []);
  assert.equal(only?.name, 'latency');
  const { count, sum, max } = only?.histogram ?? assert.fail('none');
  assert.deepEqual({ count, sum, max }, { count: 4, sum: 24, max: 9 });
});

test('values that belong together are read together, and those that nobody knows left out', () => {
  const registry = new MetricsRegistry();
  let reads = 0;
  registry.family(() => [
    ['first', (reads += 1)],
    ['second', reads],
    ['unknown', undefined],
  ]);
  assert.deepEqual(collected(registry), { first: '1', second: '1' });
});

test('a histogram is handed out once, and goes on empty', () => {
  const registry = new MetricsRegistry();
  registry.histogram('latency').record(5);
  registry.histogram('idle');
  const [first, ...others] = registry.collectHistograms();
  assert.deepEqual([first?.name, first?.histogram.count, others.length], ['latency', 1, 0]);
  registry.histogram('latency').record(6);
  assert.equal(first?.histogram.count, 1);
  assert.equal(registry.collectHistograms()[0]?.histogram.max, 6);
  assert.deepEqual(registry.collectHistograms(), []);
});

test('what is about something that is gone is collected once more, if it is a count', () => {
  const registry = new MetricsRegistry();
  registry.counter('sent').add(3);
  registry.gauge('open', () => 1);
  registry.retire('sent', 'open', 'unknown');
  assert.deepEqual(collected(registry), { sent: '3' });
  assert.deepEqual(collected(registry), {});
});

test('a count of something that has come back meanwhile goes on', () => {
  const registry = new MetricsRegistry();
  registry.counter('sent').add(3);
  registry.retire('sent');
  registry.counter('sent').add(1);
  assert.deepEqual(collected(registry), { sent: '4' });
  assert.deepEqual(collected(registry), { sent: '0' });
});

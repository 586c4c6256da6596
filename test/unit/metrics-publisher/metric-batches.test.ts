import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Histogram } from '../../../src/metrics/histogram.ts';
import { inHistogramMessages, inMessages } from '../../../src/metrics-publisher/metric-batches.ts';
import { PublishMetrics, WireMetricKind } from '../../../src/wire/messages.ts';

test('few metrics are one message, none are none', () => {
  const metrics = [{ name: 'a', value: '1' }];
  assert.deepEqual([...inMessages(metrics)], [metrics]);
  assert.deepEqual([...inMessages([])], []);
});

test('many metrics are cut into messages of a quarter MiB, in order', () => {
  const metrics = Array.from({ length: 10_000 }, (_, index) => ({
    name: `__emit-count/ä${'x'.repeat(80)}${index}`,
    value: String(index),
  }));
  const messages = [...inMessages(metrics)];
  assert.ok(messages.length > 1);
  assert.deepEqual(messages.flat(), metrics);
  for (const message of messages) {
    const kind = WireMetricKind.METRIC_COUNT;
    const data = message.map(({ name, value }) => ({ name, value, kind }));
    const value = PublishMetrics.create({ metrics: data });
    assert.ok(PublishMetrics.encode(value).length <= 256 * 1024);
  }
});

test('a name beyond any message travels alone', () => {
  const huge = { name: 'x'.repeat(300_000), value: '1' };
  const small = { name: 'a', value: '1' };
  assert.deepEqual([...inMessages([small, huge, small])], [[small], [huge], [small]]);
});

test('many histograms are cut into messages of a quarter MiB, in order', () => {
  const wide = new Histogram();
  for (let size = 1; size < 2 ** 40; size *= 1.02) wide.record(size);
  const all = Array.from({ length: 300 }, (_, index) => ({ name: `h${index}`, histogram: wide }));
  const messages = [...inHistogramMessages(all)];
  assert.ok(messages.length > 1);
  assert.deepEqual(
    messages.flat().map(({ name }) => name),
    all.map(({ name }) => name),
  );
  for (const message of messages) {
    const value = PublishMetrics.create({ histograms: [...message] });
    assert.ok(PublishMetrics.encode(value).length <= 256 * 1024);
  }
});

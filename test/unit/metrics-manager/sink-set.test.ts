import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { DeliverySink } from '../../../src/metrics-manager/delivery-sink.ts';
import type { MetricsRecord, MetricsSink } from '../../../src/metrics-manager/sink.ts';
import { SinkSet } from '../../../src/metrics-manager/sink-set.ts';
import { MetricsRegistry } from '../../../src/metrics/metrics-registry.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { AN_EXCEPTION, aMetricsRecord } from '../../support/metrics-records.ts';

/** Takes everything. */
function recording(name: string) {
  const records: MetricsRecord[] = [];
  const accept = (record: MetricsRecord): void => void records.push(record);
  return { name, queuedRecords: 0, records, accept, close: async () => {} };
}

function throwing(name: string): MetricsSink {
  const accept = (): never => {
    throw new RangeError('a fault');
  };
  return { name, queuedRecords: 0, accept, close: async () => {} };
}

test('O02: a sink that hangs for ten minutes takes nothing from the others', () => {
  const registry = new MetricsRegistry();
  const clock = new ManualClock();
  const sinks = new SinkSet(registry, silentLogger);
  const before = recording('before');
  const after = recording('after');
  sinks.add(before);
  sinks.add(
    new DeliverySink({
      name: 'hanging',
      delivery: { deliver: () => new Promise(() => {}) },
      clock,
      random: createSeededRandom(1),
      logger: silentLogger,
      counters: sinks.countersOf('hanging'),
      queueBytesMax: 50_000,
    }),
  );
  sinks.add(throwing('throwing'));
  sinks.add(after);
  for (let second = 0; second < 600; second += 1) {
    sinks.accept(aMetricsRecord());
    clock.advance(1_000);
  }
  assert.deepEqual([before.records.length, after.records.length], [600, 600]);
  const counted = new Map(registry.collect().map(({ name, value }) => [name, Number(value)]));
  const lost = counted.get('hanging/dropped-count') ?? 0;
  assert.ok(lost > 0);
  assert.equal(lost + (counted.get('communicator-size-hanging') ?? 0), 600);
  assert.equal(counted.get('throwing/dropped-count'), 600);
  assert.equal(counted.get('after/dropped-count'), 0);
});

test('each sink is counted under Heron’s names', () => {
  const registry = new MetricsRegistry();
  const sinks = new SinkSet(registry, silentLogger);
  sinks.countersOf('file-sink');
  sinks.add(recording('file-sink'));
  sinks.accept(aMetricsRecord({ exceptions: [AN_EXCEPTION, AN_EXCEPTION] }));
  const counted = Object.fromEntries(registry.collect().map(({ name, value }) => [name, value]));
  assert.deepEqual(counted, {
    'file-sink/dropped-count': '0',
    'file-sink/flush-count': '0',
    'file-sink/metrics-count': '1',
    'file-sink/exceptions-count': '2',
    'file-sink/record-process-count': '1',
    'communicator-offer': '1',
    'communicator-size-file-sink': '0',
  });
});

test('the sinks are closed together', async () => {
  const sinks = new SinkSet(new MetricsRegistry(), silentLogger);
  const closing: string[] = [];
  const first = Promise.withResolvers<void>();
  sinks.add({
    ...recording('first'),
    close: () => {
      closing.push('first');
      return first.promise;
    },
  });
  sinks.add({
    ...recording('second'),
    close: async () => {
      closing.push('second');
      first.resolve();
    },
  });
  await sinks.close();
  assert.deepEqual(closing, ['first', 'second']);
});

test('spans go to the sink for spans alone, which gets nothing else', async () => {
  const registry = new MetricsRegistry();
  const sinks = new SinkSet(registry, silentLogger);
  const metrics = recording('metrics');
  const spans = recording('spans');
  const record = aMetricsRecord({ metrics: [], spans: ['{}', '{}'] });
  sinks.add(metrics);
  sinks.acceptSpans(record);
  sinks.addForSpans(spans);
  sinks.acceptSpans(record);
  sinks.accept(aMetricsRecord());
  assert.deepEqual(spans.records, [record]);
  assert.equal(metrics.records.length, 1);
  const counted = new Map(registry.collect().map(({ name, value }) => [name, value]));
  assert.equal(counted.get('spans/metrics-count'), '2');
  sinks.addForSpans(throwing('throwing'));
  sinks.acceptSpans(record);
  const lost = registry.collect().find(({ name }) => name === 'throwing/dropped-count');
  assert.equal(lost?.value, '2');
  await sinks.close();
});

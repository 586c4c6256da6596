import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PrometheusSink } from '../../../src/metrics-manager/prometheus-sink.ts';
import { Histogram } from '../../../src/metrics/histogram.ts';
import type { Metric } from '../../../src/metrics/metrics-registry.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { AN_EXCEPTION, aMetricsRecord, sinkCounters } from '../../support/metrics-records.ts';
import { parsePrometheus } from '../../support/prometheus-parser.ts';

const COMMON = { topology: 'words', cluster: 'local', role: 'ada', env: 'test', container: '1' };

function aSink(samplesMax = 1_000) {
  const clock = new ManualClock();
  const counters = sinkCounters();
  const sink = new PrometheusSink({
    clock,
    counters,
    commonLabels: Object.entries(COMMON),
    engineVersion: '1.2.3',
    staleMs: 600_000,
    samplesMax,
  });
  const tell = (metrics: readonly Metric[], component = 'word', instance = 'container_1_word_3') =>
    sink.accept(aMetricsRecord({ source: { hostname: 'h', component, instance }, metrics }));
  const page = () => parsePrometheus(sink.text());
  return { clock, counters, sink, tell, page };
}

test('O49: counts are added up, with labels of who counts and of the stream', () => {
  const { tell, page } = aSink();
  tell([{ name: '__emit-count/default', value: '3', kind: 'count' }]);
  tell([{ name: '__emit-count/default', value: '4', kind: 'count' }]);
  const family = page().get('heron_emit_count_total');
  assert.equal(family?.type, 'counter');
  assert.equal(family.help, "Heron's __emit-count, the total.");
  assert.deepEqual(family.samples, [
    {
      name: 'heron_emit_count_total',
      labels: {
        ...COMMON,
        component: 'word',
        instance_id: 'container_1_word_3',
        task: '3',
        stream: 'default',
      },
      value: 7,
    },
  ]);
});

test('means and values are gauges in base units', () => {
  const { tell, page } = aSink();
  tell([
    { name: '__execute-latency/split/default', value: '2500000', kind: 'mean' },
    { name: 'queue', value: '7', kind: 'value' },
  ]);
  tell([{ name: 'queue', value: '5', kind: 'value' }]);
  const families = page();
  const latency = families.get('heron_execute_latency_seconds');
  assert.deepEqual([latency?.type, latency?.samples[0]?.value], ['gauge', 0.0025]);
  const queue = families.get('heron_user_queue');
  assert.deepEqual([queue?.type, queue?.samples[0]?.value], ['gauge', 5]);
});

test('processor time is a counter that is not added up twice', () => {
  const { tell, page } = aSink();
  const metric = { name: '__process/__cpu_user_usec', kind: 'value' } as const;
  tell([{ ...metric, value: '1000000' }]);
  tell([{ ...metric, value: '3000000' }]);
  const family = page().get('heron_process_cpu_user_seconds_total');
  assert.deepEqual([family?.type, family?.samples[0]?.value], ['counter', 3]);
});

test('histograms are added up, with bounds in base units', () => {
  const { sink, page } = aSink();
  const histogram = new Histogram();
  for (const microseconds of [3, 3, 700, 20_000, 1e9]) histogram.record(microseconds * 1_000);
  const histograms = [{ name: '__execute-latency/split/default', histogram }];
  sink.accept(aMetricsRecord({ histograms }));
  sink.accept(aMetricsRecord({ histograms }));
  const family = page().get('heron_execute_latency_histogram_seconds');
  assert.equal(family?.type, 'histogram');
  const valueOf = (part: string, le?: string): number | undefined =>
    family.samples.find(
      ({ name, labels }) =>
        name === `heron_execute_latency_histogram_seconds_${part}` && labels['le'] === le,
    )?.value;
  const bounds = ['0.000001', '0.000005', '0.001', '0.025', '100', '+Inf'];
  assert.deepEqual(
    bounds.map((bound) => valueOf('bucket', bound)),
    [0, 4, 6, 8, 8, 10],
  );
  assert.equal(valueOf('count'), 10);
  assert.ok(Math.abs((valueOf('sum') ?? 0) - 2_000.041_412) < 1e-6);
  assert.equal(family.samples[0]?.labels['source_component'], 'split');
});

test('a histogram weighs as much as forty numbers (H2)', () => {
  const { counters, sink, clock } = aSink(79);
  const tell = (name: string): void => {
    const histogram = new Histogram();
    histogram.record(1);
    sink.accept(aMetricsRecord({ metrics: [], histograms: [{ name, histogram }] }));
  };
  tell('a');
  tell('b');
  assert.deepEqual([sink.sampleCount, counters.dropped.value], [1, 1]);
  clock.advance(600_001);
  tell('b');
  assert.deepEqual([sink.sampleCount, counters.dropped.value], [1, 1]);
});

test('exceptions are counted', () => {
  const { sink, page } = aSink();
  sink.accept(aMetricsRecord({ exceptions: [AN_EXCEPTION, AN_EXCEPTION] }));
  assert.equal(page().get('heron_exceptions_total')?.samples[0]?.value, 4);
});

test('the engine itself is always there', () => {
  const samples = aSink().page().get('heron_engine_info')?.samples;
  assert.deepEqual(samples, [
    { name: 'heron_engine_info', labels: { ...COMMON, version: '1.2.3' }, value: 1 },
  ]);
});

test('what tells nothing for ten minutes goes (H2)', () => {
  const { clock, tell, page, sink } = aSink();
  tell([{ name: '__emit-count/default', value: '1' }], 'word', 'container_1_word_1');
  tell([{ name: '__emit-count/default', value: '1' }], 'word', 'container_1_word_2');
  clock.advance(400_000);
  clock.stepWall(-3_600_000);
  tell([{ name: '__emit-count/default', value: '1' }], 'word', 'container_1_word_2');
  clock.advance(400_000);
  const samples = page().get('heron_emit_count_total')?.samples ?? [];
  assert.deepEqual(
    samples.map(({ labels, value }) => [labels['task'], value]),
    [['2', 2]],
  );
  clock.advance(400_000);
  assert.deepEqual([...page().keys()], ['heron_engine_info']);
  assert.equal(sink.sampleCount, 0);
});

test('a full sink drops and counts what is new, until something went (H2)', () => {
  const { clock, counters, tell, sink } = aSink(2);
  tell(['a', 'b', 'c'].map((name) => ({ name, value: '1' })));
  assert.deepEqual([sink.sampleCount, counters.dropped.value], [2, 1]);
  tell(['a', 'b'].map((name) => ({ name, value: '1' })));
  assert.equal(counters.dropped.value, 1);
  clock.advance(600_001);
  tell(['c', 'd'].map((name) => ({ name, value: '1' })));
  assert.deepEqual([sink.sampleCount, counters.dropped.value], [2, 1]);
});

test('one name has one type (H3)', () => {
  const { counters, tell, page } = aSink();
  tell([{ name: 'queue_total', value: '1', kind: 'value' }]);
  tell([{ name: 'queue', value: '1', kind: 'count' }], 'word', 'container_1_word_4');
  assert.equal(counters.dropped.value, 1);
  assert.equal(page().get('heron_user_queue_total')?.type, 'gauge');
});

test('what is no number is dropped, infinity is one', () => {
  const { counters, tell, page } = aSink();
  tell([
    { name: 'a', value: 'many', kind: 'value' },
    { name: 'b', value: '', kind: 'value' },
    { name: 'c', value: '-Infinity', kind: 'value' },
  ]);
  assert.equal(counters.dropped.value, 2);
  assert.equal(page().get('heron_user_c')?.samples[0]?.value, Number.NEGATIVE_INFINITY);
});

test('O49: whatever is told, the page can be read', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('__a/b', '__client_x/__y', 'a"b\\c\nd', '__emit-count/a"\\\n', '/', '__', ''),
  );
  const metric = fc.record({
    name: text,
    value: fc.oneof(text, fc.double().map(String)),
    kind: fc.constantFrom('count', 'mean', 'value', undefined),
  });
  const record = fc.tuple(fc.array(metric), text, text);
  fc.assert(
    fc.property(fc.array(record), (records) => {
      const { tell, page, sink } = aSink();
      for (const [metrics, component, instance] of records) tell(metrics, component, instance);
      let samples = 0;
      for (const family of page().values()) samples += family.samples.length;
      assert.equal(samples, sink.sampleCount + 1);
    }),
  );
});

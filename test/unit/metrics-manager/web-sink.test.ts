import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WebSink } from '../../../src/metrics-manager/web-sink.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { aMetricsRecord, sinkCounters } from '../../support/metrics-records.ts';

function aSink(metricsMax = 100) {
  const clock = new ManualClock();
  const counters = sinkCounters();
  const sink = new WebSink({ clock, counters, topology: 'words', staleMs: 60_000, metricsMax });
  const page = (query = ''): unknown => JSON.parse(sink.json(new URLSearchParams(query)));
  const tell = (instance: string, values: Readonly<Record<string, string>>): void => {
    const metrics = Object.entries(values).map(([name, value]) => ({ name, value }));
    const source = { hostname: 'h', component: 'word', instance };
    sink.accept(aMetricsRecord({ source, metrics }));
  };
  return { clock, counters, page, tell };
}

test('the newest number of each metric, flat as in Heron', () => {
  const { page, tell } = aSink();
  tell('one', { '__emit-count/default': '3', queue: '1.5' });
  tell('one', { '__emit-count/default': '4' });
  assert.deepEqual(page(), { 'word/one/__emit-count/default': 4, 'word/one/queue': 1.5 });
});

test('or by process, or with the name of the topology', () => {
  const { page, tell } = aSink();
  tell('one', { queue: '1' });
  assert.deepEqual(page('flat=false'), { 'word/one': { queue: 1 } });
  assert.deepEqual(page('topology=true'), { 'words/word/one/queue': 1 });
});

test('it is bounded, and what is silent makes room (J1)', () => {
  const { clock, counters, page, tell } = aSink(2);
  tell('one', { a: '1', b: '1', c: '1' });
  assert.equal(counters.dropped.value, 1);
  clock.advance(60_001);
  tell('two', { a: '1', b: 'many' });
  assert.deepEqual(page(), { 'word/two/a': 1 });
  assert.equal(counters.dropped.value, 2);
});

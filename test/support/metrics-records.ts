import { Counter } from '../../src/metrics/metrics-registry.ts';
import type { MetricsRecord, SinkCounters } from '../../src/metrics-manager/sink.ts';

/** A publication of one spout task. */
export function aMetricsRecord(fields: Partial<MetricsRecord> = {}): MetricsRecord {
  return {
    source: { hostname: 'host-1', component: 'word', instance: 'container_1_word_1' },
    atMs: 1_700_000_000_000,
    metrics: [{ name: '__emit-count/default', value: '3' }],
    exceptions: [],
    ...fields,
  };
}

export const AN_EXCEPTION = {
  stackTrace: 'TypeError: x',
  firstTime: 'monday',
  lastTime: 'tuesday',
  count: 2,
  logging: '',
};

export function sinkCounters(): SinkCounters {
  return { dropped: new Counter(), flushed: new Counter() };
}

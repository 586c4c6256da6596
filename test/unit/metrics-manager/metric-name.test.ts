import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metricFactsOf } from '../../../src/metrics-manager/metric-name.ts';

const CASES: readonly (readonly [
  metric: string,
  component: string,
  name: string,
  labels: Readonly<Record<string, string>>,
  factor?: number,
])[] = [
  ['__emit-count/default', 'word', 'emit_count', { stream: 'default' }],
  [
    '__execute-count/split/default',
    'count',
    'execute_count',
    { source_component: 'split', stream: 'default' },
  ],
  [
    '__execute-latency/split/default',
    'count',
    'execute_latency_seconds',
    { source_component: 'split', stream: 'default' },
    1e-9,
  ],
  ['__next-tuple-latency', 'word', 'next_tuple_latency_seconds', {}, 1e-9],
  ['__execute-time-ns/s', 'count', 'execute_seconds', { stream: 's' }, 1e-9],
  ['__gateway-received-packets-size', 'word', 'gateway_received_packets_size', {}],
  ['__jvm-memory-used-mb', 'word', 'jvm_memory_used_bytes', {}, 1024 * 1024],
  ['__jvm-gc-time-ms/young', 'word', 'jvm_gc_seconds', { key: 'young' }, 1e-3],
  ['__server/__tuples_to_workers', '__stmgr__', 'server_tuples_to_workers', {}],
  [
    '__client_stmgr-2/__bytes_to_stmgrs',
    '__stmgr__',
    'client_bytes_to_stmgrs',
    { peer: 'stmgr-2' },
  ],
  [
    '__time_spent_back_pressure_by_compid/container_1_word_1',
    '__stmgr__',
    'time_spent_back_pressure_by_compid_seconds',
    { key: 'container_1_word_1' },
    1e-3,
  ],
  [
    '__connection_buffer_by_instanceid/container_1_word_1/bytes',
    '__stmgr__',
    'connection_buffer_by_instanceid',
    { key: 'container_1_word_1/bytes' },
  ],
  ['__process/__mem_used_bytes', '__tmanager__', 'process_mem_used_bytes', {}],
  ['__process/__uptime_sec', 'word', 'process_uptime_seconds', {}],
  ['__process/__cpu_user_usec', 'word', 'process_cpu_user_seconds', {}, 1e-6],
  ['errors/parse', 'word', 'user_errors', { key: 'parse' }],
  ['errors/parse/deep', 'word', 'user_errors', { key: 'parse/deep' }],
  ['__fail-reason/time-out', 'word', 'fail_reason', { reason: 'time-out' }],
  ['__server/__fail_reason/dropped', '__stmgr__', 'server_fail_reason', { reason: 'dropped' }],
  ['__dead-letter-count/thrown', 'word', 'dead_letter_count', { reason: 'thrown' }],
  ['__auto__/retries', 'word', 'user_auto', { key: 'retries' }],
  ['dropped_exceptions_count', 'word', 'dropped_exceptions_count', {}],
  ['queueLength', 'word', 'user_queue_length', {}],
  ['lookup time (ms)', 'word', 'user_lookup_time_ms', {}],
  ['close-publisher', '__metricsmgr__', 'metricsmgr_close_publisher', {}],
  ['file-sink/dropped-count', '__metricsmgr__', 'metricsmgr_dropped_count', { sink: 'file-sink' }],
];

for (const [metric, component, name, labels, factor = 1] of CASES) {
  test(`${metric} of ${component} is ${name}`, () => {
    const facts = metricFactsOf(metric, component);
    assert.equal(facts.name, name);
    assert.deepEqual(Object.fromEntries(facts.labels), labels);
    assert.equal(facts.factor, factor);
  });
}

test('processor time is a total, though it is published as a value', () => {
  assert.equal(metricFactsOf('__process/__cpu_system_usec', 'word').isTotal, true);
  assert.equal(metricFactsOf('__process/__uptime_sec', 'word').isTotal, false);
});

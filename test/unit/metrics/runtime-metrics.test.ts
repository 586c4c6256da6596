import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runtimeMetrics } from '../../../src/metrics/runtime-metrics.ts';

const MIB = 1024 * 1024;

test('what a runtime takes has the names of a JVM of Heron', () => {
  const metrics = runtimeMetrics({
    heapUsedBytes: 30 * MIB,
    heapCommittedBytes: 50 * MIB,
    heapMaxBytes: 400 * MIB,
    externalBytes: 4 * MIB,
    collections: 12,
    collectionMs: 80.5,
    loopDelay: { meanMs: 1, p99Ms: 4, maxMs: 9 },
  });
  assert.deepEqual(Object.fromEntries(metrics), {
    '__jvm-memory-used-mb': 34,
    '__jvm-memory-mb-total': 54,
    '__jvm-memory-free-mb': 20,
    '__jvm-memory-heap-mb-used': 30,
    '__jvm-memory-heap-mb-committed': 50,
    '__jvm-memory-heap-mb-max': 400,
    '__jvm-memory-non-heap-mb-used': 4,
    '__jvm-gc-collection-count': 12,
    '__jvm-gc-collection-time-ms': 80.5,
    '__event-loop-delay-ms/mean': 1,
    '__event-loop-delay-ms/p99': 4,
    '__event-loop-delay-ms/max': 9,
  });
});

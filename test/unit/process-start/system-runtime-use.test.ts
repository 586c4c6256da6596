import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemResourceUse } from '../../../src/process-start/system-resource-use.ts';
import { watchRuntime } from '../../../src/process-start/system-runtime-use.ts';

test('the heap of this thread is told, and what the process has open', () => {
  const { heapUsedBytes, heapCommittedBytes, heapMaxBytes, collections } = watchRuntime()();
  assert.ok(heapUsedBytes > 0 && heapUsedBytes <= heapCommittedBytes);
  assert.ok(heapCommittedBytes <= heapMaxBytes);
  assert.equal(collections, 0, 'of those since it watches');
  const { cores, threads, openFiles } = systemResourceUse();
  assert.ok((cores ?? 0) >= 1);
  if (process.platform !== 'linux') return;
  assert.ok((threads ?? 0) > 1, 'Node has threads of its own');
  assert.ok((openFiles ?? 0) >= 3);
});

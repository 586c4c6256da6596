import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { historyOf } from '../../../src/executor/predecessor.ts';
import { encodeContainerReport } from '../../../src/model/container-report.ts';

const exit = { code: 7, signal: null, atMs: 5, reason: 'ended with code 7', lastLines: ['x'] };

const lastReport = encodeContainerReport({
  containerId: containerId(1),
  host: '127.0.0.1',
  pid: 41,
  startedAtMs: 1,
  processes: [
    { name: 'running', pid: 42, state: 'running', restarts: 2, startedAtMs: 2, lastExit: exit },
    { name: 'failed', pid: null, state: 'failed', restarts: 9, startedAtMs: 2, lastExit: exit },
  ],
});

test('what ran under a dead executor died with it; what had died before keeps its reason', () => {
  const history = historyOf(lastReport, { nowMs: 77, logger: silentLogger });
  assert.deepEqual(history.get('running'), {
    restarts: 2,
    lastExit: {
      code: null,
      signal: null,
      atMs: 77,
      reason: 'ended with its executor (pid 41), which died',
      lastLines: [],
    },
  });
  assert.deepEqual(history.get('failed')?.lastExit, exit);
  assert.equal(history.get('failed')?.restarts, 9);
});

test('no report and a damaged report mean no history', () => {
  for (const bytes of [undefined, new TextEncoder().encode('{')]) {
    assert.equal(historyOf(bytes, { nowMs: 77, logger: silentLogger }).size, 0);
  }
});

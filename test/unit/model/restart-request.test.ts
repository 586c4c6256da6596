import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProcessReport } from '../../../src/model/container-report.ts';
import {
  encodeRestartRequest,
  isMeant,
  parseRestartRequest,
  restartRequestOf,
} from '../../../src/model/restart-request.ts';

const REPORT: ProcessReport = {
  name: 'stmgr-1',
  pid: 1,
  state: 'running',
  restarts: 2,
  startedAtMs: 1_700_000_000_000,
};

test('a request means one life of one process, and no other', () => {
  const request = parseRestartRequest(encodeRestartRequest(restartRequestOf(REPORT)));
  assert.ok(isMeant(request, REPORT));
  assert.ok(isMeant(request, { ...REPORT, pid: null, state: 'failed' }), 'the last life counts');
  assert.ok(!isMeant(request, { ...REPORT, name: 'stmgr-2' }));
  assert.ok(!isMeant(request, { ...REPORT, restarts: 3 }));
  assert.ok(!isMeant(request, { ...REPORT, startedAtMs: 1 }));
});

for (const text of ['', '{', 'null', '[]', '{"process":1,"startedAtMs":1,"restarts":1}']) {
  test(`what names no process is damaged: ${text}`, () => {
    assert.throws(() => parseRestartRequest(Buffer.from(text)), { code: 'STATE_CORRUPTED' });
  });
}

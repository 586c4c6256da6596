import assert from 'node:assert/strict';
import { test } from 'node:test';
import { topologyId } from '../../../src/base/ids.ts';
import { encodeDrainRequest, parseDrainRequest } from '../../../src/model/drain-request.ts';

test('what is written is read again', () => {
  const request = { topologyId: topologyId('words-1'), deadlineMs: 1_700_000_000_000 };
  assert.deepEqual(parseDrainRequest(encodeDrainRequest(request)), request);
});

for (const text of ['', '{', 'null', '[]', '{"topologyId":"words-1"}', '{"deadlineMs":1}']) {
  test(`what names no topology or no deadline is damaged: ${text}`, () => {
    assert.throws(() => parseDrainRequest(Buffer.from(text)), { code: 'STATE_CORRUPTED' });
  });
}

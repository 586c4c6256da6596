import assert from 'node:assert/strict';
import { test } from 'node:test';
import { topologyId } from '../../../src/base/ids.ts';
import {
  type Completion,
  encodeCompletion,
  parseCompletion,
} from '../../../src/model/completion.ts';

const COMPLETION: Completion = {
  topologyId: topologyId('words-1'),
  completedAtMs: 1_700_000_000_000,
  result: 'completed-with-losses',
  incidents: [{ atMs: 1, container: 2, process: 'stmgr-2', reason: 'killed by SIGKILL' }],
  recovered: [{ atMs: 2, container: 1, process: 'container_1_split_2', reason: 'ended' }],
};

test('what is written is read again', () => {
  assert.deepEqual(parseCompletion(encodeCompletion(COMPLETION)), COMPLETION);
  const clean: Completion = { ...COMPLETION, result: 'completed', incidents: [] };
  assert.deepEqual(parseCompletion(encodeCompletion(clean)), clean);
});

test('a record of an earlier version tells of nothing that was recovered', () => {
  const { recovered: _, ...earlier } = COMPLETION;
  assert.deepEqual(parseCompletion(Buffer.from(JSON.stringify(earlier))).recovered, []);
});

const BROKEN: ReadonlyArray<readonly [string, string, RegExp]> = [
  ['not JSON', '{"topologyId"', /not JSON/],
  ['no object', '[]', /a field is missing/],
  ['null', 'null', /an object is expected/],
  ['an unknown result', JSON.stringify({ ...COMPLETION, result: 'fine' }), /unknown result "fine"/],
  ['no incidents', JSON.stringify({ ...COMPLETION, incidents: undefined }), /a field is missing/],
  ['no list of what was recovered', JSON.stringify({ ...COMPLETION, recovered: 1 }), /no list/],
  ['half a recovery', JSON.stringify({ ...COMPLETION, recovered: [{}] }), /not complete/],
  ['half an incident', JSON.stringify({ ...COMPLETION, incidents: [{ atMs: 1 }] }), /not complete/],
];

for (const [name, text, message] of BROKEN) {
  test(`${name} is refused`, () => {
    const expected = { code: 'STATE_CORRUPTED', message };
    assert.throws(() => parseCompletion(Buffer.from(text)), expected);
  });
}

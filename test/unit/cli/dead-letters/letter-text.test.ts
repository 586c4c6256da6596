import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import {
  letterTable,
  letterText,
  listedLetter,
  shownLetter,
} from '../../../../src/cli/dead-letters/letter-text.ts';
import { Output } from '../../../../src/cli/output.ts';
import type { DeadLetter } from '../../../../src/model/dead-letter.ts';
import { aLetter, valueOf } from '../../../support/dead-letters.ts';

const output = new Output({ stdout: new PassThrough(), stderr: new PassThrough(), isJson: false });

function textOf(fields: Partial<DeadLetter>): string {
  return letterText(shownLetter(aLetter('3-1', fields), 1), output);
}

test('a letter is shown whole', () => {
  const fields = ['line', 'count'];
  const text = textOf({ fields, values: [valueOf('{"a": '), valueOf(7n)], messageId: 'm-1' });
  assert.deepEqual(text.split('\n'), [
    '3-1',
    'given up     2026-01-31T10:00:00.000Z, after 6 attempts',
    'spout        lines, task 3, container 1',
    'stream       default',
    'position     {"offset":12}',
    'message id   m-1',
    'reason       thrown in split/5',
    `line         '{"a": '`,
    'count        7n',
    '    SyntaxError: Unexpected end of JSON input',
    '        at Split.execute (split.ts:7:12)',
  ]);
});

test('what is not known is left out', () => {
  const reason = {
    kind: 'time-out',
    component: undefined,
    task: undefined,
    message: undefined,
    stack: undefined,
  } as const;
  const text = textOf({ position: undefined, values: undefined, attempts: 1, reason });
  assert.deepEqual(text.split('\n'), [
    '3-1',
    'given up     2026-01-31T10:00:00.000Z, after 1 attempt',
    'spout        lines, task 3, container 1',
    'stream       default',
    'reason       time-out',
    'values       left out: they are larger than a letter may be',
  ]);
});

test('values are decoded, or it is said that they cannot be', () => {
  const values = (letter: Partial<DeadLetter>) =>
    shownLetter(aLetter('3-1', letter), 1).values?.map(({ text }) => text);
  const rich = { when: new Date(0), tags: new Set(['a']), deep: [null, 1.5] };
  assert.deepEqual(values({ values: [valueOf(rich)] }), [
    "{ when: 1970-01-01T00:00:00.000Z, tags: Set(1) { 'a' }, deep: [ null, 1.5 ] }",
  ]);
  assert.deepEqual(values({ values: [Buffer.from([0xd9, 5]).toString('base64')] }), [null]);
  assert.deepEqual(values({ values: ['zwA='] }), [null]);
  const record = { fields: ['record'], values: [valueOf(Buffer.from('a\x1b[2J'))] };
  assert.deepEqual(values(record), ["5 bytes: 'a\\x1B[2J'"]);
  const broken = { values: [valueOf(Buffer.from([0xff, 0x41]))] };
  assert.match(values(broken)?.[0] ?? '', /^2 bytes: ff41 \(The encoded data was not valid/);
  const own = { values: [valueOf(Buffer.from('xyz'))], serialized: true };
  assert.deepEqual(values(own), ["3 bytes of the topology's own serializer: 'xyz'"]);
  assert.match(textOf({ values: ['zwA='] }), /^line {9}base64 zwA=$/m);
});

test('nothing in a letter moves the cursor of a terminal', () => {
  const evil = '\u001b[2Jgone\u009b';
  const reason = { ...aLetter('').reason, message: evil, stack: undefined };
  const text = textOf({ position: evil, messageId: evil, values: [valueOf(evil)], reason });
  const table = letterTable([listedLetter(aLetter('3-1', { reason }), 1)], output);
  for (const shown of [text, table]) {
    assert.ok(shown.includes('\\x1b[2Jgone'), shown);
    assert.doesNotMatch(shown.replaceAll('\n', ''), /\p{Cc}/u);
  }
});

test('a table has the first line of each error, cut', () => {
  const reason = { ...aLetter('').reason, message: `${'x'.repeat(100)}\nsecond line` };
  const table = letterTable([listedLetter(aLetter('3-1', { reason }), 1)], output);
  const [, row = '', ...others] = table.split('\n');
  assert.deepEqual(others, []);
  assert.match(row, /^3-1 +2026-01-31T10:00:00\.000Z +lines\/3 +6 +thrown in split\/5 +x{59}…$/);
});

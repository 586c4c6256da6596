import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import {
  type DeadLetter,
  deadLetterAnswerFileName,
  deadLetterFileName,
  deadLetterRequestFileName,
  encodeDeadLetter,
  encodeDeadLetterAnswer,
  encodeDeadLetterRequest,
  encodeRemoval,
  isRecordLetter,
  parseDeadLetterAnswer,
  parseDeadLetterFile,
  parseDeadLetterFileName,
  parseDeadLetterRequest,
  RECORD_FIELDS,
  requestIdOf,
} from '../../../src/model/dead-letter.ts';
import { aLetter } from '../../support/task-letters.ts';

const bytesOf = (...parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts);
const textBytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const ids = (bytes: Uint8Array): readonly string[] =>
  parseDeadLetterFile(bytes).letters.map(({ id }) => id);

const FULL: DeadLetter = aLetter('1-a', {
  messageId: '"m"',
  position: '{"file":"a\\n"}',
  reason: { kind: 'thrown', component: 'split', task: 4, message: 'no', stack: 'no\n  at x' },
});

describe('a file of dead letters', () => {
  it('has a line for each letter, which comes back as it was', () => {
    const bare = aLetter('1-b', { values: undefined });
    const bytes = bytesOf(encodeDeadLetter(FULL), encodeDeadLetter(bare));
    assert.equal(Buffer.from(bytes).toString().split('\n').length, 3);
    assert.deepEqual(parseDeadLetterFile(bytes), { letters: [FULL, bare], skippedLines: 0 });
    assert.deepEqual(parseDeadLetterFile(new Uint8Array()), { letters: [], skippedLines: 0 });
  });

  it('D2: keeps a letter until it is removed, and one that was written twice once', () => {
    const [a, b, c] = ['1-a', '1-b', '1-c'].map((id) => encodeDeadLetter(aLetter(id)));
    assert.ok(a && b && c);
    assert.deepEqual(ids(bytesOf(a, b, a, c, encodeRemoval(['1-b', '1-x']))), ['1-a', '1-c']);
    assert.deepEqual(ids(bytesOf(a, encodeRemoval(['1-a']), a)), ['1-a']);
  });

  it('D3: survives a crash in the middle of a line', () => {
    const letters = ['1-a', '1-b', '1-ü'].map((id) => encodeDeadLetter(aLetter(id)));
    const whole = bytesOf(...letters);
    const ends = letters.map((_, index) => bytesOf(...letters.slice(0, index + 1)).length);
    for (let length = 0; length <= whole.length; length += 1) {
      const cut = whole.subarray(0, length);
      // The last byte of a line is its end, without which it is whole nevertheless.
      const complete = ends.filter((end) => end - 1 <= length).length;
      const { letters: read, skippedLines } = parseDeadLetterFile(cut);
      assert.equal(read.length, complete, `at ${length}`);
      const isTorn = length > 0 && !ends.includes(length) && !ends.includes(length + 1);
      assert.equal(skippedLines, isTorn ? 1 : 0, `at ${length}`);
      const more = bytesOf(cut, textBytes('\n'), encodeDeadLetter(aLetter('1-new')));
      assert.equal(ids(more).at(-1), '1-new');
    }
  });

  it('skips whatever else there may be, and says how many lines', () => {
    const line = encodeDeadLetter(FULL);
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.json(), fc.string())), (texts) => {
        const garbage = texts.map((text) => text.replaceAll('\n', ' '));
        const bytes = bytesOf(textBytes(garbage.map((text) => `${text}\n`).join('')), line);
        const { letters, skippedLines } = parseDeadLetterFile(bytes);
        assert.deepEqual(letters, [FULL]);
        assert.equal(skippedLines, garbage.filter((text) => text !== '').length);
      }),
    );
    const broken = Object.keys(FULL).filter(
      (key) => key !== 'values' && key !== 'messageId' && key !== 'position',
    );
    for (const key of broken) {
      const text = JSON.stringify({ ...FULL, [key]: undefined });
      assert.equal(parseDeadLetterFile(textBytes(text)).skippedLines, 1, key);
    }
  });

  it('tells records that are no tuples from letters of a stream', () => {
    const reason = { ...FULL.reason, kind: 'unreadable' as const };
    assert.equal(isRecordLetter(aLetter('1-a', { fields: RECORD_FIELDS, reason })), true);
    assert.equal(isRecordLetter(aLetter('1-a', { fields: ['line'], reason })), false);
    assert.equal(isRecordLetter(aLetter('1-a', { fields: RECORD_FIELDS })), false);
  });
});

describe('the files beside it', () => {
  it('have names that lead back to the task', () => {
    for (const component of ['words', 'a-1', 'a.b', 'x-2.request']) {
      const name = deadLetterFileName(component, 3);
      assert.deepEqual(parseDeadLetterFileName(name), { component, task: 3 });
      const request = deadLetterRequestFileName(component, 3, 'r1');
      assert.equal(requestIdOf(request, component, 3), 'r1');
      assert.equal(requestIdOf(request, component, 33), undefined);
      assert.equal(
        requestIdOf(deadLetterAnswerFileName(component, 3, 'r1'), component, 3),
        undefined,
      );
      assert.equal(requestIdOf(`${request}.new`, component, 3), undefined);
      assert.equal(requestIdOf(name, component, 3), undefined);
      assert.equal(parseDeadLetterFileName(request), undefined);
    }
    // Another component, whose name goes on where that of this one and its task end.
    const other = deadLetterRequestFileName('a-3.b', 1, 'r1');
    assert.equal(requestIdOf(other, 'a', 3), undefined);
  });

  it('come back as they were, or as nothing', () => {
    for (const letters of ['all' as const, ['1-a', '1-b']]) {
      const request = { id: 'r1', action: 'replay' as const, letters, wantsAnswer: true };
      assert.deepEqual(parseDeadLetterRequest(encodeDeadLetterRequest(request)), request);
    }
    for (const answer of [
      { count: 3, refusal: undefined },
      { count: 0, refusal: 'no' },
    ]) {
      assert.deepEqual(parseDeadLetterAnswer(encodeDeadLetterAnswer(answer)), answer);
    }
    for (const text of ['', '{', '[]', 'null', '{"id":1}', '{"id":"a","action":"x"}']) {
      assert.equal(parseDeadLetterRequest(textBytes(text)), undefined, text);
      assert.equal(parseDeadLetterAnswer(textBytes(text)), undefined, text);
    }
  });
});

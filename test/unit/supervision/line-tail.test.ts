import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineTail } from '../../../src/supervision/line-tail.ts';

function tailOf(chunks: readonly (string | Uint8Array)[], linesMax = 3): readonly string[] {
  const tail = new LineTail(linesMax);
  for (const chunk of chunks) tail.append(Buffer.from(chunk as string));
  return tail.lines();
}

test('keeps the last lines, oldest first', () => {
  assert.deepEqual(tailOf(['1\n2\n3\n4\n5\n']), ['3', '4', '5']);
  assert.deepEqual(tailOf(['1\n2\n', '3\n4\n']), ['2', '3', '4']);
});

test('an unfinished last line counts', () => {
  assert.deepEqual(tailOf(['1\n2\n3\nhal', 'f']), ['2', '3', 'half']);
  assert.deepEqual(tailOf([]), []);
});

test('lines and characters may be cut anywhere', () => {
  const bytes = Buffer.from('één\r\nzwölf\n数字\n');
  for (let at = 0; at <= bytes.length; at += 1) {
    const lines = tailOf([bytes.subarray(0, at), bytes.subarray(at)]);
    assert.deepEqual(lines, ['één', 'zwölf', '数字'], `cut at ${at}`);
  }
});

test('memory is bounded by lines and by their length', () => {
  const tail = new LineTail(3);
  for (let count = 0; count < 100; count += 1) tail.append(Buffer.alloc(10_000, 'x'));
  assert.deepEqual(
    tail.lines().map((line) => line.length),
    [2_000],
  );
});

test('frames of machine code do not push out what was said before them', () => {
  const frames = Array.from(
    { length: 30 },
    (_, index) => `${index + 1}: 0x75968e node::OOM [node]`,
  );
  const lines = ['FATAL ERROR: heap out of memory', '----- Native stack trace -----', ...frames];
  assert.deepEqual(tailOf([`${lines.join('\n')}\n`]), lines.slice(0, 2));
  assert.deepEqual(tailOf([`1: 0xyes\n`]), ['1: 0xyes']);
});

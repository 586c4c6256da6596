import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { LineReader } from '../../../src/api/line-reader.ts';
import { SourceDisk } from '../../support/source-disk.ts';

interface Line {
  readonly text: string;
  readonly offset: number;
  readonly nextOffset: number;
  readonly isCut: boolean;
}

async function linesOf(
  text: string,
  { from = 0, lineBytesMax = 1_000, readBytesMax = Number.POSITIVE_INFINITY } = {},
): Promise<readonly Line[]> {
  const disk = new SourceDisk();
  disk.readBytesMax = readBytesMax;
  disk.put('/a', Buffer.from(text, 'latin1'));
  const reader = new LineReader(await disk.open('/a'), from, lineBytesMax);
  const lines: Line[] = [];
  const take = (): void => {
    const { bytes, start, end, offset, nextOffset, isCut } = reader;
    lines.push({ text: bytes.toString('latin1', start, end), offset, nextOffset, isCut });
  };
  for (;;) {
    while (reader.next()) take();
    if (await reader.fill()) continue;
    if (reader.takeRest()) take();
    await reader.close();
    assert.equal(disk.openFiles, 0);
    return lines;
  }
}

/** What the reader does, the slow way. */
function modelOf(text: string, lineBytesMax: number): readonly Line[] {
  const lines: Line[] = [];
  for (let offset = 0; offset < text.length; ) {
    const newline = text.indexOf('\n', offset);
    const nextOffset = newline < 0 ? text.length : newline + 1;
    let line = text.slice(offset, newline < 0 ? text.length : newline);
    if (newline >= 0 && line.endsWith('\r')) line = line.slice(0, -1);
    const isCut = line.length > lineBytesMax;
    lines.push({ text: line.slice(0, lineBytesMax), offset, nextOffset, isCut });
    offset = nextOffset;
  }
  return lines;
}

const texts = fc
  .array(fc.constantFrom('a', 'bb', '\r', '\n', '\r\n', '\u00e4', 'cccccccccc'), { maxLength: 40 })
  .map((parts) => parts.join(''));

test('lines are found wherever the reads are cut, and each has its place', async () => {
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 1, max: 7 }), async (text, readBytesMax) => {
      assert.deepEqual(await linesOf(text, { readBytesMax }), modelOf(text, 1_000));
    }),
  );
});

test('L2: the beginning of a line that is too long is kept, the next one is unharmed', async () => {
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 1, max: 40 }), async (text, readBytesMax) => {
      const lines = await linesOf(text, { readBytesMax, lineBytesMax: 5 });
      assert.deepEqual(lines, modelOf(text, 5));
    }),
  );
});

test('L2: the end of a line does not count, wherever a read ends', async () => {
  const text = 'abcde\r\nabcde\nabcdef\r\nabcde\r';
  for (let readBytesMax = 1; readBytesMax < 10; readBytesMax += 1) {
    assert.deepEqual(await linesOf(text, { readBytesMax, lineBytesMax: 5 }), modelOf(text, 5));
  }
});

test('reading begins at the offset of a line', async () => {
  const all = await linesOf('one\r\ntwo\nthree');
  assert.deepEqual(
    all.map(({ text }) => text),
    ['one', 'two', 'three'],
  );
  for (const [index, { offset }] of all.entries()) {
    assert.deepEqual(await linesOf('one\r\ntwo\nthree', { from: offset }), all.slice(index));
  }
});

test('a line may be longer than the window', async () => {
  const long = 'x'.repeat(700_000);
  const text = `short\n${long}\r\nlast\n${long}`;
  const lines = await linesOf(text, { lineBytesMax: 1_000_000, readBytesMax: 100_000 });
  assert.deepEqual(lines, modelOf(text, 1_000_000));
  const cut = await linesOf(text, { lineBytesMax: 300_000, readBytesMax: 100_000 });
  assert.deepEqual(cut, modelOf(text, 300_000));
});

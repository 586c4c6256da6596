import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { openChildChannel } from '../../../src/supervision/child-channel.ts';
import { settled } from '../../support/settled.ts';

function aChannel() {
  const toChild = new PassThrough();
  const fromChild = new PassThrough();
  const lines: string[] = [];
  const seen = { beats: 0 };
  const onBeats = (count: number): void => void (seen.beats += count);
  const channel = openChildChannel({ toChild, fromChild, onBeats });
  channel.listen((line) => lines.push(line));
  return { channel, toChild, fromChild, lines, seen };
}

test('beats are counted, lines between them are heard, wherever the chunks are cut', async () => {
  const text = Buffer.from('\0\0{"id":1,"text":"wörd"}\n\0{"id":2}\n\0');
  for (let cut = 0; cut <= text.length; cut += 1) {
    const { fromChild, lines, seen } = aChannel();
    fromChild.write(text.subarray(0, cut));
    await settled();
    fromChild.write(text.subarray(cut));
    await settled();
    assert.deepEqual(lines, ['{"id":1,"text":"wörd"}', '{"id":2}'], `cut at ${cut}`);
    assert.equal(seen.beats, 4);
  }
});

test('a line of more than the limit is passed over, the next one is heard', async () => {
  const { fromChild, lines } = aChannel();
  fromChild.write(Buffer.alloc(9 * 1024 * 1024, 'x'));
  fromChild.write('\nnext\n');
  await settled();
  await settled();
  assert.deepEqual(lines, ['next']);
});

test('a child that reads nothing, or has ended, is told nothing', () => {
  const { channel, toChild } = aChannel();
  let sent = 0;
  while (channel.send('x'.repeat(1_000)) && sent < 1_000) sent += 1;
  assert.ok(sent > 10 && sent < 200, `${sent} lines`);
  toChild.end();
  assert.equal(channel.send('more'), false);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode } from '../../../../src/base/errors.ts';
import { FrameReader } from '../../../../src/state-manager/zookeeper/frame-reader.ts';

const FRAMES = ['a', 'bc', 'x'.repeat(200), 'd', '\0\0\0\0\0'];

function stream(frames: readonly string[] = FRAMES): Buffer {
  const parts = frames.flatMap((frame) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(frame.length);
    return [length, Buffer.from(frame, 'latin1')];
  });
  return Buffer.concat(parts);
}

/** What comes out when the bytes come in chunks that end at `cuts`; the chunks do not last. */
function read(bytes: Buffer, cuts: readonly number[]): readonly string[] {
  const reader = new FrameReader(1_000);
  const seen: string[] = [];
  let start = 0;
  for (const end of [...cuts, bytes.length]) {
    const chunk = Buffer.from(bytes.subarray(start, end));
    reader.feed(chunk, (frame) => seen.push(frame.toString('latin1')) > 0);
    chunk.fill(0xee);
    start = end;
  }
  return seen;
}

test('frames come out whole, wherever the bytes are cut', () => {
  const bytes = stream();
  assert.deepEqual(read(bytes, []), FRAMES);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    assert.deepEqual(read(bytes, [cut]), FRAMES, `cut at ${cut}`);
    assert.deepEqual(read(bytes, [Math.floor(cut / 2), cut]), FRAMES, `cut at half of ${cut} too`);
  }
  assert.deepEqual(read(bytes, Array.from(bytes.keys())), FRAMES);
});

test('nothing more comes out once nothing more is wanted', () => {
  const seen: string[] = [];
  new FrameReader(1_000).feed(stream(), (frame) => {
    seen.push(frame.toString('latin1'));
    return seen.length < 2;
  });
  assert.deepEqual(seen, FRAMES.slice(0, 2));
});

test('a length that is not sane ends it before memory is set aside', () => {
  for (const length of [0, -1, 1_001, 0x7fff_ffff, 0x4854_5450]) {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(length);
    assert.throws(
      () => new FrameReader(1_000).feed(bytes, () => true),
      (error) => hasCode(error, 'PACKET_MALFORMED'),
      String(length),
    );
  }
});

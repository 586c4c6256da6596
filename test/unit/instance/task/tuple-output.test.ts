import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LARGE_SET_MARKER } from '../../../../src/instance/ring-markers.ts';
import { anOutput } from '../../../support/output-in-test.ts';
import { setText, takeFrames } from '../../../support/task-in-test.ts';
import { headerOf } from '../../../support/tuple-sets.ts';

const SET_BYTES_MAX = 32 * 1024;

describe('what a task emits', () => {
  it('O3: holds small tuples to a small limit, too', () => {
    const { output, frames, drain } = anOutput({ tupleBytesMax: 100 });
    const longest = 'x'.repeat(100 - 2 - 9 - 2 - 2);
    output.emit(0, [longest]);
    output.emit(0, ['a']);
    assert.throws(() => output.emit(0, [`${longest}x`]), { code: 'TUPLE_TOO_LARGE' });
    output.emit(0, ['b']);
    output.flush();
    drain();
    assert.deepEqual(frames, [`default: ${longest}`, 'default: a', 'default: b']);
  });

  it('O1: waits in one set until it is flushed', () => {
    const { output, reader } = anOutput();
    output.emit(0, ['a']);
    output.emit(0, ['b']);
    assert.deepEqual(takeFrames(reader), []);
    output.flush();
    output.flush();
    assert.deepEqual(takeFrames(reader), ['default: a b']);
    assert.equal(output.emitted, 2);
  });

  it('O1: begins a set when the stream changes, in order', () => {
    const { output, reader } = anOutput();
    output.emit(0, ['a']);
    output.emit(1, ['b']);
    output.emit(0, ['c']);
    output.flush();
    assert.deepEqual(takeFrames(reader), ['default: a', 'late: b', 'default: c']);
  });

  it('O1: fills sets of at most 32 KiB, and loses and repeats nothing', () => {
    const { output, drain, frames, sizes } = anOutput();
    const words = Array.from({ length: 20_000 }, (_, index) => `word${index}`);
    for (const word of words) output.emit(0, [word]);
    output.flush();
    drain();
    assert.deepEqual(
      frames.flatMap((frame) => frame.split(' ').slice(1)),
      words,
    );
    assert.ok(sizes.every((bytes) => bytes <= SET_BYTES_MAX));
    assert.ok(sizes.slice(0, -1).every((bytes) => bytes > SET_BYTES_MAX - 64));
  });

  it('O1: takes smaller sets in the smallest ring that there may be', () => {
    const { output, drain, frames } = anOutput({ ringBytes: 64 * 1024 });
    assert.equal(output.hasRoom, true);
    output.emit(0, ['x'.repeat(20_000)]);
    output.emit(0, ['y'.repeat(20_000)]);
    output.flush();
    drain();
    assert.deepEqual(
      frames.map((frame) => frame.length),
      [20_009, 20_009],
    );
  });

  it('is flushed by itself when no runner is there to do it, once a turn', () => {
    const { output, reader, clock } = anOutput();
    output.attended = false;
    output.emit(0, ['a']);
    output.emit(0, ['b']);
    assert.deepEqual(takeFrames(reader), []);
    clock.runSoon();
    assert.deepEqual(takeFrames(reader), ['default: a b']);
    output.emit(0, ['c']);
    clock.runSoon();
    assert.deepEqual(takeFrames(reader), ['default: c']);
  });

  it('O2: O39: a value that cannot be sent throws, and the rest goes on', () => {
    const { output, reader } = anOutput();
    output.emit(0, ['a']);
    const bad = { outer: [1, { inner: () => 1 }] };
    assert.throws(() => output.emit(0, [bad]), {
      code: 'VALUE_NOT_SERIALIZABLE',
      message: /outer\[1\]\.inner/,
    });
    output.emit(0, ['b']);
    output.flush();
    assert.deepEqual(takeFrames(reader), ['default: a b']);
    assert.equal(output.emitted, 2);
  });

  it('O3: a tuple above the limit throws, and the rest goes on', () => {
    const { output, drain, frames } = anOutput({ tupleBytesMax: 100_000 });
    output.emit(0, ['a']);
    assert.throws(() => output.emit(0, ['x'.repeat(100_001)]), {
      code: 'TUPLE_TOO_LARGE',
      message: /stream 'default' of 'words' takes more than 100000 bytes/,
    });
    output.emit(0, ['b']);
    output.flush();
    drain();
    assert.deepEqual(frames, ['default: a', 'default: b']);
    assert.equal(output.emitted, 2);
  });

  it('O3: the limit counts all of a tuple, to the byte', () => {
    const { output, drain, sizes } = anOutput({ tupleBytesMax: 50_000 });
    let length = 50_000;
    const fits = (): boolean => {
      try {
        output.emit(0, ['x'.repeat(length)]);
        return true;
      } catch {
        return false;
      }
    };
    while (!fits()) length -= 1;
    drain();
    // The rest of the set are its stream, its source, and the length of all.
    const overhead = headerOf('words').bytes.length + 1 + 3 + 2;
    assert.equal(sizes.at(-1), 50_000 + overhead);
  });

  it('O3: one that is larger than a set, not than a frame, goes through the ring', () => {
    const { output, drain, frames, sizes, largeSets } = anOutput();
    output.emit(0, ['a']);
    output.emit(0, ['x'.repeat(100_000)]);
    output.emit(0, ['b']);
    output.flush();
    drain();
    assert.deepEqual(frames, ['default: a', `default: ${'x'.repeat(100_000)}`, 'default: b']);
    assert.ok((sizes[1] ?? 0) < 100_100);
    assert.equal(largeSets.length, 0);
  });

  it('O3: R15: one that is larger than a frame goes by message, with a marker in its place', () => {
    const { output, drain, frames, largeSets } = anOutput();
    const text = 'é'.repeat(100_000);
    output.emit(0, ['a']);
    output.emit(1, [text]);
    output.emit(1, ['b']);
    output.flush();
    drain();
    assert.deepEqual(frames, ['default: a', `marker ${LARGE_SET_MARKER}`, 'late: b']);
    assert.deepEqual(largeSets.map(setText), [`late: ${text}`]);
  });

  it('O4: R5: waits inside emit when the ring is full, and goes on where it was', () => {
    const { output, drain, frames, waits } = anOutput({ ringBytes: 64 * 1024 });
    const words = Array.from({ length: 30_000 }, (_, index) => `${index}`);
    for (const word of words) output.emit(0, [word]);
    output.end();
    drain();
    assert.ok(waits.length > 5);
    assert.equal(frames.pop(), 'marker 2');
    assert.deepEqual(
      frames.flatMap((frame) => frame.split(' ').slice(1)),
      words,
    );
  });

  for (const [how, flushes] of [
    ['sets are flushed one by one', true],
    ['a set is open', false],
  ] as const) {
    it(`says by hasRoom whether emit would wait, when ${how}`, async () => {
      const { output, waits, drain, frames } = anOutput();
      let emitted = 0;
      for (; output.hasRoom; emitted += 1) {
        output.emit(0, ['x'.repeat(1_000)]);
        if (flushes) output.flush();
      }
      assert.equal(waits.length, 0);
      const room = output.waitForRoom();
      drain();
      assert.equal(await room, true);
      assert.equal(frames.join('').split('x'.repeat(1_000)).length - 1, emitted);
    });
  }
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LARGE_SET_MARKER } from '../../../../src/instance/ring-markers.ts';
import type { RingWriter } from '../../../../src/ring/byte-ring.ts';
import { AckFold } from '../../../../src/wire/ack-fold.ts';
import { endOfInputSet } from '../../../../src/wire/tuple-set-writer.ts';
import { anOutput } from '../../../support/output-in-test.ts';
import { setText, takeFrames } from '../../../support/task-in-test.ts';
import { headerOf, readTupleSet } from '../../../support/tuple-sets.ts';

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

/** An output with acks, and what is in its ring: `data`, `3 acks`, `end` or `marker 3`. */
function anAckingOutput(options: Parameters<typeof anOutput>[0] = {}) {
  const acks = new AckFold();
  const { output, reader, ...rest } = anOutput({ ...options, acks });
  const frames = (framesMax = Number.POSITIVE_INFINITY): string[] => {
    const seen: string[] = [];
    while (seen.length < framesMax && reader.next()) {
      const { kind, bytes, start, end } = reader;
      if (kind !== 0) seen.push(`marker ${kind}`);
      else {
        const { data, control, endOfInput } = readTupleSet(bytes.subarray(start, end));
        if (control !== undefined) seen.push(`${control.acks.length} acks`);
        else seen.push(data === undefined && endOfInput ? 'end' : 'data');
      }
      reader.release();
    }
    return seen;
  };
  const ackMany = (count: number, from = 1): void => {
    for (let key = from; key < from + count; key += 1) output.ack(1, key, 0, 7, 7);
  };
  return { ...rest, output, frames, ackMany };
}

describe('the acks of a task', () => {
  it('O6: R13: leave by flush, behind the set that was open', () => {
    const { output, frames, ackMany } = anAckingOutput();
    output.emit(0, ['a']);
    ackMany(3);
    output.emit(1, ['b']);
    assert.deepEqual(frames(), ['data'], 'a change of stream closes the set and no more');
    output.flush();
    assert.deepEqual(frames(), ['data', '3 acks']);
    output.flush();
    assert.deepEqual(frames(), []);
  });

  it('O6: leave when no more fit into a set', () => {
    const { frames, ackMany, output } = anAckingOutput();
    ackMany(1_025);
    assert.deepEqual(frames(), ['1024 acks']);
    output.flush();
    assert.deepEqual(frames(), ['1 acks']);
  });

  it('O6: fit into a frame of the smallest ring that there may be', () => {
    const { frames, ackMany, waits } = anAckingOutput({ ringBytes: 64 * 1024 });
    ackMany(1_025);
    assert.deepEqual([frames(), waits], [['1024 acks'], []]);
  });

  it('leave soon when nobody flushes: from timers and promises', () => {
    const { output, frames, ackMany, clock } = anAckingOutput();
    output.attended = false;
    ackMany(2);
    assert.deepEqual(frames(), []);
    clock.runSoon();
    assert.deepEqual(frames(), ['2 acks']);
  });

  it('O6: wait without room for the next flush, and nobody waits for them', () => {
    const { output, frames, ackMany, ring, waits } = anAckingOutput({ ringBytes: 64 * 1024 });
    fill(ring);
    ackMany(100);
    output.flush();
    assert.deepEqual(waits, []);
    frames();
    ackMany(50, 101);
    output.flush();
    assert.deepEqual(frames(), ['150 acks']);
  });

  it('O6: wait for room when they are too many, and when the task ends', () => {
    for (const more of ['acks', 'end'] as const) {
      const room = { frames: (): string[] => [] };
      const taken: string[][] = [];
      const { output, frames, ackMany, ring } = anAckingOutput({
        ringBytes: 64 * 1024,
        onWait: () => void taken.push(room.frames()),
      });
      room.frames = frames;
      fill(ring);
      ackMany(1_024);
      if (more === 'acks') ackMany(1, 2_000);
      else output.end();
      assert.equal(taken.length, 1, 'it has waited once');
      const rest = more === 'acks' ? ['1024 acks'] : ['1024 acks', 'marker 2'];
      assert.deepEqual(frames(), rest);
    }
  });

  it('O5: are kept, in order, on a thread that cannot wait', async () => {
    const { output, frames, ackMany, ring } = anAckingOutput({
      ringBytes: 64 * 1024,
      canBlock: () => false,
    });
    fill(ring);
    output.emit(0, ['a']);
    ackMany(1_025);
    assert.equal(output.hasRoom, false);
    output.end();
    frames();
    await output.written();
    assert.deepEqual(frames(), ['data', '1024 acks', '1 acks', 'marker 2']);
  });

  it('O5: do not overtake what is kept, where there is room for a few of them', async () => {
    const { output, frames, ackMany, ring } = anAckingOutput({
      ringBytes: 64 * 1024,
      canBlock: () => false,
    });
    fill(ring, 500);
    ackMany(1_025);
    output.flush();
    frames();
    await output.written();
    output.flush();
    assert.deepEqual(frames(), ['1024 acks', '1 acks']);
  });

  it('fails leave at once, behind what was emitted and acked', () => {
    const { output, frames, ackMany } = anAckingOutput();
    output.emit(0, ['a']);
    ackMany(1);
    output.sendControl(endOfInputSet(3));
    assert.deepEqual(frames(), ['data', '1 acks', 'end']);
  });

  it('R15: fails go by message when they are too large for the ring', () => {
    const { output, frames, largeSets } = anAckingOutput({ ringBytes: 64 * 1024 });
    output.sendControl(new Uint8Array(40_000));
    assert.deepEqual(frames(), [`marker ${LARGE_SET_MARKER}`]);
    assert.equal(largeSets[0]?.length, 40_000);
  });
});

/** Leaves no room in the ring, or less than so many bytes. */
function fill(ring: RingWriter, leaving?: number): void {
  const end = endOfInputSet(3);
  while (ring.hasRoom(leaving ?? end.length)) {
    const at = ring.reserve(end.length);
    ring.bytes.set(end, at);
    ring.commit(at, at + end.length);
  }
}

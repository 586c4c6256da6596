import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import {
  closeRingReader,
  closeRingWriter,
  createRingMemory,
  DATA,
  NO_ROOM,
  RingReader,
  RingWriter,
} from '../../../src/ring/byte-ring.ts';
import { AtomicsDoorbell } from '../../../src/ring/atomics-doorbell.ts';

const CAPACITY_BYTES = 4096;
const HEADER_BYTES = 16;
const CONTROL_BYTES = 192;
const TAIL_WORD = 16;

function aRing({ bytes = CAPACITY_BYTES, firstPosition = 0 } = {}) {
  const memory = createRingMemory(bytes);
  const control = new Int32Array(memory, 0, CONTROL_BYTES / 4);
  control[0] = firstPosition;
  control[TAIL_WORD] = firstPosition;
  const writerBell = new AtomicsDoorbell();
  const readerBell = new AtomicsDoorbell();
  const writer = new RingWriter(memory, writerBell, readerBell);
  const reader = new RingReader(memory, writerBell);
  return { memory, writer, reader, writerBell, readerBell };
}

/** Writes `bytes` bytes of `value` as one frame; false when there is no room. */
function write(writer: RingWriter, bytes: number, value: number): boolean {
  const at = writer.reserve(bytes);
  if (at === NO_ROOM) return false;
  writer.bytes.fill(value, at, at + bytes);
  writer.commit(at, at + bytes);
  return true;
}

function payloadOf(reader: RingReader): number[] {
  return [...reader.bytes.subarray(reader.start, reader.end)];
}

describe('frames', () => {
  test('come out whole and in order', () => {
    const { writer, reader } = aRing();
    assert.equal(reader.next(), false);
    write(writer, 3, 7);
    write(writer, 0, 0);
    write(writer, 2, 9);
    assert.equal(reader.next(), true);
    assert.deepEqual(payloadOf(reader), [7, 7, 7]);
    assert.equal(reader.next(), true);
    assert.deepEqual(payloadOf(reader), []);
    assert.equal(reader.next(), true);
    assert.deepEqual(payloadOf(reader), [9, 9]);
    assert.equal(reader.next(), false);
  });

  test('may begin later and end earlier than was reserved', () => {
    const { writer, reader } = aRing();
    const at = writer.reserve(1000);
    writer.bytes.write('payload', at + 100, 'latin1');
    writer.commit(at + 100, at + 107);
    write(writer, 1, 1);
    reader.next();
    assert.equal(reader.bytes.toString('latin1', reader.start, reader.end), 'payload');
    reader.next();
    assert.deepEqual(payloadOf(reader), [1]);
    reader.release();
    reader.release();
    assert.notEqual(writer.reserve(writer.payloadBytesMax), NO_ROOM);
  });

  test('markers keep their place between frames', () => {
    const { writer, reader } = aRing();
    write(writer, 1, 1);
    assert.equal(writer.writeMarker(42), true);
    write(writer, 1, 2);
    const kinds: number[] = [];
    while (reader.next()) kinds.push(reader.kind, reader.end - reader.start);
    assert.deepEqual(kinds, [DATA, 1, 42, 0, DATA, 1]);
  });

  test('a reservation that is not committed has no effect', () => {
    const { writer, reader } = aRing();
    for (let at = 0; at !== NO_ROOM; at = write(writer, 100, 1) ? 0 : NO_ROOM) reader.hasNext();
    while (reader.next()) reader.release();
    writer.reserve(writer.payloadBytesMax);
    assert.equal(reader.next(), false);
    write(writer, 1, 5);
    reader.next();
    assert.deepEqual(payloadOf(reader), [5]);
  });
});

describe('room', () => {
  test('ends when the ring is full, and comes back with a release', () => {
    const { writer, reader } = aRing();
    const frames = CAPACITY_BYTES / (HEADER_BYTES + 48);
    for (let index = 0; index < frames; index += 1) assert.equal(write(writer, 48, index), true);
    assert.equal(write(writer, 0, 0), false);
    assert.equal(writer.writeMarker(1), false);
    assert.equal(writer.hasRoom(0), false);
    reader.next();
    assert.equal(writer.hasRoom(0), false, 'reading alone does not free a frame');
    reader.release();
    assert.equal(write(writer, 48, 99), true);
    assert.equal(write(writer, 0, 0), false);
    const values: (number | undefined)[] = [];
    while (reader.next()) {
      values.push(payloadOf(reader)[0]);
      reader.release();
    }
    assert.deepEqual(values, [...Array.from({ length: frames - 1 }, (_, index) => index + 1), 99]);
  });

  test('frames read ahead are released one by one, in order', () => {
    const { writer, reader } = aRing();
    for (let value = 1; value <= 3; value += 1) write(writer, 1000, value);
    reader.next();
    const first = { start: reader.start, end: reader.end };
    reader.next();
    reader.next();
    reader.release();
    // Room for one frame has come back; the two that are not released must survive it.
    assert.equal(write(writer, 1000, 4), true);
    assert.equal(reader.next(), true);
    assert.deepEqual(payloadOf(reader), Array<number>(1000).fill(4));
    assert.equal(reader.bytes[first.start], 1, 'the first frame was not overwritten yet');
    assert.equal(write(writer, 1000, 5), true);
    assert.equal(reader.bytes[first.start], 5, 'a released frame may be overwritten');
    assert.equal(write(writer, 1000, 6), false);
  });

  test('the largest frame fits wherever the ring stands; a larger one is our own mistake', () => {
    for (let offset = 0; offset < CAPACITY_BYTES; offset += HEADER_BYTES) {
      const { writer, reader } = aRing({ firstPosition: offset });
      const bytes = writer.payloadBytesMax;
      assert.equal(bytes, CAPACITY_BYTES / 2 - HEADER_BYTES);
      assert.equal(write(writer, bytes, 1), true, `at ${offset}`);
      assert.equal(reader.next(), true);
      assert.equal(reader.end - reader.start, bytes);
      assert.throws(() => writer.reserve(bytes + 1), { name: 'AssertionError' });
    }
  });

  test('a ring has at least the bytes that were asked for', () => {
    for (const bytes of [1, 4096, 4097, 100_000, 2_097_152]) {
      const { writer } = aRing({ bytes });
      assert.ok(writer.bytes.length >= bytes);
      assert.ok(writer.bytes.length < Math.max(2 * bytes, 8192));
    }
  });
});

describe('mistakes of the caller', () => {
  test('are caught at once', () => {
    const { writer, reader } = aRing();
    const wrong = { name: 'AssertionError' };
    assert.throws(() => writer.commit(16, 17), wrong);
    assert.throws(() => reader.release(), wrong);
    assert.throws(() => writer.writeMarker(0), wrong);
    const at = writer.reserve(10);
    assert.throws(() => writer.commit(at - 1, at), wrong);
    assert.throws(() => writer.commit(at, at + 11), wrong);
    assert.throws(() => writer.commit(at + 2, at + 1), wrong);
    writer.commit(at, at);
    assert.throws(() => writer.commit(at, at), wrong);
  });
});

describe('closing', () => {
  test('the reader still gets every frame, then the end', () => {
    const { writer, reader } = aRing();
    write(writer, 1, 1);
    assert.equal(reader.isAtEnd, false);
    writer.close();
    assert.equal(reader.isAtEnd, false);
    assert.equal(reader.next(), true);
    assert.equal(reader.isAtEnd, true);
  });

  test('a writer learns that nobody reads', async () => {
    const { writer, reader } = aRing();
    while (write(writer, 100, 1));
    const waiting = writer.waitForRoom(100);
    reader.close();
    assert.equal(await waiting, false);
    assert.equal(writer.isReaderClosed, true);
    assert.equal(writer.waitForRoomBlocking(100, 60_000), false);
  });

  test('a third party may close either end', async () => {
    const { memory, writer, reader, writerBell, readerBell } = aRing();
    const seen = readerBell.sequence();
    const asleep = readerBell.wait(seen);
    closeRingWriter(memory, readerBell);
    await asleep;
    assert.equal(reader.isAtEnd, true);
    closeRingReader(memory, writerBell);
    assert.equal(writer.isReaderClosed, true);
  });
});

describe('wake-ups', () => {
  test('a commit rings the reader, a release rings the writer', () => {
    const { writer, reader, writerBell, readerBell } = aRing();
    const before = [writerBell.sequence(), readerBell.sequence()];
    write(writer, 1, 1);
    reader.next();
    assert.deepEqual([writerBell.sequence(), readerBell.sequence()], [before[0], 1]);
    reader.release();
    assert.deepEqual([writerBell.sequence(), readerBell.sequence()], [1, 1]);
  });

  test('waiting for room ends with a release', async () => {
    const { writer, reader } = aRing();
    while (write(writer, 100, 1));
    const waiting = writer.waitForRoom(100);
    reader.next();
    reader.release();
    assert.equal(await waiting, true);
    assert.equal(writer.waitForRoomBlocking(100, 60_000), true);
  });

  test('blocking for room ends with its time', () => {
    const { writer } = aRing();
    while (write(writer, 100, 1));
    assert.equal(writer.waitForRoomBlocking(100, 1), false);
  });
});

test('any sequence of writes, reads and releases equals a queue', () => {
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('write' as const), bytes: fc.nat(2032) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('write' as const), bytes: fc.nat(100) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('abandon' as const), bytes: fc.nat(2032) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('marker' as const) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('read' as const) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('release' as const) }) },
  );
  // Positions wrap at 2^31 and at 2^32; begin shortly before either.
  const firstPosition = fc.constantFrom(0, 2 ** 31 - 4096, -4096, -64);
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 300 }),
      firstPosition,
      fc.nat(),
      (steps, first, seed) => {
        const { writer, reader } = aRing({ firstPosition: first });
        const unread: { kind: number; fill: number; bytes: number }[] = [];
        const unreleased: { start: number; end: number; fill: number }[] = [];
        let fill = seed & 0xff;
        for (const action of steps) {
          fill = (fill + 1) & 0xff;
          if (action.kind === 'write') {
            const at = writer.reserve(action.bytes);
            if (at === NO_ROOM) {
              assert.ok(unread.length + unreleased.length > 0, 'an empty ring has room for all');
              continue;
            }
            const start = at + Math.min(fill, action.bytes);
            const end = at + action.bytes;
            writer.bytes.fill(fill, start, end);
            writer.commit(start, end);
            unread.push({ kind: DATA, fill, bytes: end - start });
          } else if (action.kind === 'abandon') {
            const at = writer.reserve(action.bytes);
            if (at !== NO_ROOM) writer.bytes.fill(0xaa, at, at + action.bytes);
          } else if (action.kind === 'marker') {
            if (writer.writeMarker(fill + 1)) unread.push({ kind: fill + 1, fill, bytes: 0 });
          } else if (action.kind === 'read') {
            const expected = unread.shift();
            assert.equal(reader.next(), expected !== undefined);
            if (expected === undefined) continue;
            assert.equal(reader.kind, expected.kind);
            assert.equal(reader.end - reader.start, expected.bytes);
            unreleased.push({ start: reader.start, end: reader.end, fill: expected.fill });
          } else {
            const oldest = unreleased.shift();
            if (oldest === undefined) continue;
            const bytes = reader.bytes.subarray(oldest.start, oldest.end);
            assert.ok(
              bytes.every((byte) => byte === oldest.fill),
              'a frame changed before release',
            );
            reader.release();
          }
        }
      },
    ),
    { numRuns: 500 },
  );
});

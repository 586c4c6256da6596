/*
  A byte ring joins two threads: one writes whole frames, the other reads them. Nothing is allocated
  and nothing is copied on the way. Rings are the queues between user code and an instance's
  gateway.

  The shared memory:

      0     HEAD            int32, position behind the last committed frame; the writer's
      64    TAIL            int32, position of the oldest frame still in use; the reader's
      128   WRITER_CLOSED   int32, 0 or 1
      132   READER_CLOSED   int32, 0 or 1
      192   the ring itself, a power of two of bytes

  HEAD, TAIL and the closed words lie on cache lines of their own, as different threads write them.
  Positions count bytes for ever, modulo 2^32; a position's place in the ring is its low bits.

        place 0            TAIL                #next of the reader       HEAD
          │                 ▼                    ▼                        ▼
          ├─────────────────┬────────┬───────────┬────────┬───────┬──────┬──────────┤
          │      free       │ frame  │   frame   │ frame  │ frame │ gap  │   free   │
          └─────────────────┴────────┴───────────┴────────┴───────┴──────┴──────────┘
                             read, not released   committed, not read

  Frame => kind  slotBytes  start  end  (unused)  payload  (unused)
    kind       int32; 0 = data, -1 = gap, above 0 = a marker of that kind
    slotBytes  int32; bytes of the whole frame; all frames begin at multiples of 16
    start, end int32 each; places of the payload in the ring. A writer reserves more than it uses,
               and may begin late: headers of tuple sets are written backwards from a fixed place.

  A frame never wraps: when it does not fit before the end of the ring, a gap fills the rest and the
  frame begins at place 0. A frame takes at most half of the ring, so that it fits into an empty
  ring wherever HEAD stands. Larger ones go by message, with a marker frame in their place to keep
  the order.

  B1. Only the writer changes HEAD, only the reader changes TAIL; the bytes between TAIL and HEAD
      belong to the reader, the others to the writer.
  B2. Payload and frame headers are accessed plainly. The atomic store of HEAD makes a frame visible
      as a whole, the atomic store of TAIL gives it back as a whole: each side loads the other's
      word atomically before it touches what that word promises.
  B3. After HEAD moved the reader's doorbell rings; after TAIL moved the writer's does. In this
      order, so that whoever is woken, or looks after reading its doorbell's sequence, sees the move
      (doorbell.ts, D1).
  B4. A closed word is set after the last frame of its writer, or the last release of its reader.
      The reader loads WRITER_CLOSED before it looks for frames: closed, and then nothing there,
      means the end. Closing rings the other's doorbell. Either end may be closed by a third party
      that saw its thread die.
  B5. Frames are released in the order in which they were read, while later ones may be read
      already: a socket is still sending the bytes of the earlier ones.
*/

import { assert } from '../base/assert.ts';
import type { Doorbell } from './doorbell.ts';

const CACHE_LINE_BYTES = 64;
const HEAD = 0;
const TAIL = CACHE_LINE_BYTES / 4;
const WRITER_CLOSED = (2 * CACHE_LINE_BYTES) / 4;
const READER_CLOSED = WRITER_CLOSED + 1;
const CONTROL_BYTES = 3 * CACHE_LINE_BYTES;

const FRAME_HEADER_BYTES = 16;
/** Frames are aligned to their header's size, so that a gap always has room for its own header. */
const ALIGNMENT = FRAME_HEADER_BYTES;
const CAPACITY_BYTES_MIN = 4096;
/** Positions are int32; the difference of two must stay positive. */
const CAPACITY_BYTES_MAX = 2 ** 30;

const GAP = -1;
/** The kind of a frame with payload. */
export const DATA = 0;
/** What `reserve` returns when there is no room yet. */
export const NO_ROOM = -1;

/** Memory for a ring of at least `bytes`: the next power of two. */
export function createRingMemory(bytes: number): SharedArrayBuffer {
  assert(bytes > 0 && bytes <= CAPACITY_BYTES_MAX, `a ring of ${bytes} bytes`);
  const capacity = Math.max(CAPACITY_BYTES_MIN, 2 ** Math.ceil(Math.log2(bytes)));
  return new SharedArrayBuffer(CONTROL_BYTES + capacity);
}

/**
 * Says that no frame will follow: by the writer itself, or by whoever saw its thread die. `reader`
 * is the doorbell of the reading thread. Idempotent.
 */
export function closeRingWriter(memory: SharedArrayBuffer, reader: Doorbell): void {
  Atomics.store(new RingView(memory).control, WRITER_CLOSED, 1);
  reader.ring();
}

/**
 * Says that nothing will be read any more: by the reader itself, or by whoever saw its thread die.
 * `writer` is the doorbell of the writing thread. Idempotent.
 */
export function closeRingReader(memory: SharedArrayBuffer, writer: Doorbell): void {
  Atomics.store(new RingView(memory).control, READER_CLOSED, 1);
  writer.ring();
}

/** Both ends see the memory in the same way. */
class RingView {
  readonly control: Int32Array;
  readonly bytes: Buffer;
  readonly headers: Int32Array;
  readonly mask: number;

  constructor(memory: SharedArrayBuffer) {
    const capacity = memory.byteLength - CONTROL_BYTES;
    assert((capacity & (capacity - 1)) === 0, 'memory that was not made by createRingMemory');
    this.control = new Int32Array(memory, 0, CONTROL_BYTES / Int32Array.BYTES_PER_ELEMENT);
    this.bytes = Buffer.from(memory, CONTROL_BYTES, capacity);
    this.headers = new Int32Array(memory, CONTROL_BYTES, capacity / Int32Array.BYTES_PER_ELEMENT);
    this.mask = capacity - 1;
  }
}

/** The end that writes. One thread, and never two of these over the same memory. */
export class RingWriter {
  /** The ring's memory: payloads are written here, between the places that `reserve` allows. */
  readonly bytes: Buffer;
  /** The largest payload; larger ones go by message. */
  readonly payloadBytesMax: number;
  readonly #memory: SharedArrayBuffer;
  readonly #view: RingView;
  readonly #own: Doorbell;
  readonly #reader: Doorbell;
  #head: number;
  /**
   * TAIL when it was last loaded; the true one can only be further on, so there is at least this
   * room.
   */
  #tail: number;
  #reservedStart = NO_ROOM;
  #reservedEnd = NO_ROOM;
  #reservedGap = 0;

  /** `own` is the doorbell of the writing thread, `reader` that of the reading one. */
  constructor(memory: SharedArrayBuffer, own: Doorbell, reader: Doorbell) {
    this.#memory = memory;
    this.#view = new RingView(memory);
    this.bytes = this.#view.bytes;
    this.payloadBytesMax = this.bytes.length / 2 - FRAME_HEADER_BYTES;
    this.#own = own;
    this.#reader = reader;
    this.#head = Atomics.load(this.#view.control, HEAD);
    this.#tail = Atomics.load(this.#view.control, TAIL);
  }

  /** True when nobody will read any more what is written. */
  get isReaderClosed(): boolean {
    return Atomics.load(this.#view.control, READER_CLOSED) === 1;
  }

  /**
   * The place where up to `maxBytes` (at most `payloadBytesMax`) may be written, or NO_ROOM. It
   * holds until the next `commit`, `reserve` or `writeMarker`; one that is not committed has no
   * effect.
   */
  reserve(maxBytes: number): number {
    const { mask, headers } = this.#view;
    const gap = this.#gapBefore(maxBytes);
    this.#reservedStart = NO_ROOM;
    if (!this.#hasFree(gap + slotBytesFor(maxBytes))) return NO_ROOM;
    if (gap > 0) writeHeader(headers, this.#head & mask, GAP, gap, 0, 0);
    this.#reservedGap = gap;
    this.#reservedStart = ((this.#head + gap) & mask) + FRAME_HEADER_BYTES;
    this.#reservedEnd = this.#reservedStart + maxBytes;
    return this.#reservedStart;
  }

  /** Makes the payload from place `start` to place `end`, within what was reserved, a frame. */
  commit(start: number, end: number): void {
    assert(this.#reservedStart !== NO_ROOM, 'a commit without a reservation');
    assert(
      start >= this.#reservedStart && start <= end && end <= this.#reservedEnd,
      'a payload outside of its reservation',
    );
    this.#publish(DATA, start, end);
  }

  /** Writes a frame without payload; false when there is no room. */
  writeMarker(kind: number): boolean {
    assert(Number.isInteger(kind) && kind > 0, 'kinds of markers are whole numbers above 0');
    const start = this.reserve(0);
    if (start === NO_ROOM) return false;
    this.#publish(kind, start, start);
    return true;
  }

  /** Whether `reserve(maxBytes)` would succeed now. */
  hasRoom(maxBytes: number): boolean {
    return this.#hasFree(this.#gapBefore(maxBytes) + slotBytesFor(maxBytes));
  }

  /**
   * Blocks the thread until there is room for `maxBytes`, the reader is closed, something else
   * rings this thread's doorbell, or `maxMs` are over; tells whether there is room. Callers loop,
   * and look after their event loop in between.
   */
  waitForRoomBlocking(maxBytes: number, maxMs: number): boolean {
    const seen = this.#own.sequence();
    if (this.hasRoom(maxBytes)) return true;
    if (this.isReaderClosed) return false;
    this.#own.waitBlocking(seen, maxMs);
    return this.hasRoom(maxBytes);
  }

  /** Resolves to true when there is room, to false when the reader is closed. */
  async waitForRoom(maxBytes: number): Promise<boolean> {
    for (;;) {
      const seen = this.#own.sequence();
      if (this.isReaderClosed) return false;
      if (this.hasRoom(maxBytes)) return true;
      await this.#own.wait(seen);
    }
  }

  /** No frame will follow. Idempotent. */
  close(): void {
    closeRingWriter(this.#memory, this.#reader);
  }

  #publish(kind: number, start: number, end: number): void {
    const { mask, headers, control } = this.#view;
    const frame = (this.#head + this.#reservedGap) & mask;
    const slotBytes = align(end - frame);
    writeHeader(headers, frame, kind, slotBytes, start, end);
    this.#head = (this.#head + this.#reservedGap + slotBytes) | 0;
    this.#reservedStart = NO_ROOM;
    Atomics.store(control, HEAD, this.#head);
    this.#reader.ring();
  }

  /** Bytes to skip so that a frame for `maxBytes` does not wrap. */
  #gapBefore(maxBytes: number): number {
    assert(maxBytes <= this.payloadBytesMax, 'a frame larger than half of its ring');
    const untilEnd = this.bytes.length - (this.#head & this.#view.mask);
    return slotBytesFor(maxBytes) > untilEnd ? untilEnd : 0;
  }

  #hasFree(bytes: number): boolean {
    const capacity = this.bytes.length;
    if (capacity - ((this.#head - this.#tail) | 0) >= bytes) return true;
    this.#tail = Atomics.load(this.#view.control, TAIL);
    return capacity - ((this.#head - this.#tail) | 0) >= bytes;
  }
}

/** The end that reads. One thread, and never two of these over the same memory. */
export class RingReader {
  /** The ring's memory; the current frame's payload lies between `start` and `end`. */
  readonly bytes: Buffer;
  /** The frame that `next` found last. */
  kind = DATA;
  start = 0;
  end = 0;
  readonly #memory: SharedArrayBuffer;
  readonly #view: RingView;
  readonly #writer: Doorbell;
  /** HEAD when it was last loaded. */
  #head: number;
  #next: number;
  #tail: number;

  /** `writer` is the doorbell of the writing thread. */
  constructor(memory: SharedArrayBuffer, writer: Doorbell) {
    this.#memory = memory;
    this.#view = new RingView(memory);
    this.bytes = this.#view.bytes;
    this.#writer = writer;
    this.#head = Atomics.load(this.#view.control, HEAD);
    this.#tail = Atomics.load(this.#view.control, TAIL);
    this.#next = this.#tail;
  }

  /** True when the writer is closed and every frame has been read. */
  get isAtEnd(): boolean {
    return Atomics.load(this.#view.control, WRITER_CLOSED) === 1 && !this.hasNext();
  }

  /** Of all frames that are not released, read or not. */
  get heldBytes(): number {
    return (Atomics.load(this.#view.control, HEAD) - this.#tail) | 0;
  }

  /** Whether `next` would find a frame. */
  hasNext(): boolean {
    if (this.#next !== this.#head) return true;
    this.#head = Atomics.load(this.#view.control, HEAD);
    return this.#next !== this.#head;
  }

  /**
   * Moves on to the next frame: false when there is none. Its bytes stay as they are until it is
   * released; `kind`, `start` and `end` hold until the next call.
   */
  next(): boolean {
    if (!this.hasNext()) return false;
    const { headers, mask } = this.#view;
    let word = (this.#next & mask) >> 2;
    if (headers[word] === GAP) {
      this.#next = (this.#next + (headers[word + 1] ?? 0)) | 0;
      word = 0;
    }
    this.kind = headers[word] ?? GAP;
    this.start = headers[word + 2] ?? 0;
    this.end = headers[word + 3] ?? 0;
    this.#next = (this.#next + (headers[word + 1] ?? 0)) | 0;
    return true;
  }

  /** Gives the oldest frame that was read and not yet released back to the writer (B5). */
  release(): void {
    assert(this.#tail !== this.#next, 'released a frame that was not read');
    const { headers, mask, control } = this.#view;
    let word = (this.#tail & mask) >> 2;
    if (headers[word] === GAP) {
      this.#tail = (this.#tail + (headers[word + 1] ?? 0)) | 0;
      word = 0;
    }
    this.#tail = (this.#tail + (headers[word + 1] ?? 0)) | 0;
    Atomics.store(control, TAIL, this.#tail);
    this.#writer.ring();
  }

  /** Wakes the writing thread for news that it finds elsewhere, and that come after `release`. */
  wakeWriter(): void {
    this.#writer.ring();
  }

  /** Nothing will be read any more; a writer that waits for room learns of it. Idempotent. */
  close(): void {
    closeRingReader(this.#memory, this.#writer);
  }
}

function slotBytesFor(payloadBytes: number): number {
  return FRAME_HEADER_BYTES + align(payloadBytes);
}

function align(bytes: number): number {
  return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
}

function writeHeader(
  headers: Int32Array,
  place: number,
  kind: number,
  slotBytes: number,
  start: number,
  end: number,
): void {
  const word = place >> 2;
  headers[word] = kind;
  headers[word + 1] = slotBytes;
  headers[word + 2] = start;
  headers[word + 3] = end;
}

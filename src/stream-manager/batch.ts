import { varintBytes, writeVarint } from '../wire/protobuf-cursor.ts';
import type { StreamHeader } from '../wire/stream-header.ts';
import {
  DATA_TAG,
  SET_HEAD_BYTES_MAX,
  SET_TAIL_BYTES_MAX,
  SOURCE_TASK_TAG,
} from '../wire/tuple-set-format.ts';
import { STREAM_MESSAGE_HEAD_MAX, STREAM_MESSAGE_TAIL_MAX } from '../wire/tuple-stream-message.ts';
import type { BatchPool } from './batch-pool.ts';
import type { RetainedRoots } from './credits.ts';
import type { LocalSource } from './local-source.ts';
import type { OutgoingSet } from './outgoing-set.ts';

/** Below this a loop is faster than the call into native code (bench/route.ts). */
const LOOP_BYTES_MAX = 64;

/**
 * Tuples of one source and one stream for one destination, copied behind each other as they came:
 *
 *     [ room | head | stream | tuple tuple … | tail | room ]
 *              ^start          ^#tuplesStart        ^end
 *
 * The head holds the length of what follows, so it is written last, right-aligned in front of the
 * stream, and nothing has to move.
 */
export class Batch implements OutgoingSet {
  bytes: Uint8Array;
  start = 0;
  end = 0;
  tupleCount = 0;
  roots: RetainedRoots | undefined = undefined;
  readonly sourceTask: number;
  readonly #pool: BatchPool;
  readonly #source: LocalSource;
  readonly #stream: StreamHeader;
  readonly #tuplesStart: number;
  #at: number;

  /** `tupleBytes`: size of the first tuple, which fits whatever it is. */
  constructor(pool: BatchPool, source: LocalSource, stream: StreamHeader, tupleBytes: number) {
    this.sourceTask = source.task;
    this.#pool = pool;
    this.#source = source;
    this.#stream = stream;
    this.#tuplesStart = STREAM_MESSAGE_HEAD_MAX + SET_HEAD_BYTES_MAX + stream.bytes.length;
    this.#at = this.#tuplesStart;
    this.bytes = pool.take(this.#tuplesStart + tupleBytes + TAIL_ROOM);
  }

  get byteLength(): number {
    return this.end - this.start;
  }

  /** Bytes of all tuples so far. */
  get tupleBytes(): number {
    return this.#at - this.#tuplesStart;
  }

  accepts(stream: StreamHeader, tupleBytes: number): boolean {
    return stream === this.#stream && this.#at + tupleBytes + TAIL_ROOM <= this.bytes.length;
  }

  append(from: Uint8Array, start: number, end: number, tupleCount: number): void {
    let to = this.#at;
    if (end - start <= LOOP_BYTES_MAX) {
      const { bytes } = this;
      for (let at = start; at < end; at += 1) {
        bytes[to] = from[at] as number;
        to += 1;
      }
    } else {
      this.bytes.set(from.subarray(start, end), to);
      to += end - start;
    }
    this.#at = to;
    this.tupleCount += tupleCount;
  }

  /** Writes the key of the tuple appended last, which begins `fromEnd` bytes before its end. */
  setKey(fromEnd: number, low: number, high: number): void {
    const { bytes } = this;
    const at = this.#at - fromEnd;
    bytes[at] = low;
    bytes[at + 1] = low >>> 8;
    bytes[at + 2] = low >>> 16;
    bytes[at + 3] = low >>> 24;
    bytes[at + 4] = high;
    bytes[at + 5] = high >>> 8;
    bytes[at + 6] = high >>> 16;
    bytes[at + 7] = high >>> 24;
  }

  seal(): void {
    const { bytes } = this;
    const streamStart = this.#tuplesStart - this.#stream.bytes.length;
    bytes.set(this.#stream.bytes, streamStart);
    const dataBytes = this.#at - streamStart;
    this.start = streamStart - varintBytes(dataBytes) - 1;
    writeVarint(bytes, writeVarint(bytes, this.start, DATA_TAG), dataBytes);
    this.end = writeVarint(bytes, writeVarint(bytes, this.#at, SOURCE_TASK_TAG), this.sourceTask);
  }

  compact(): void {
    this.roots = this.roots?.slice();
    const bytesNeeded = this.end + STREAM_MESSAGE_TAIL_MAX;
    if (bytesNeeded * 2 > this.bytes.length) return;
    const small = Buffer.allocUnsafeSlow(bytesNeeded);
    small.set(this.bytes.subarray(this.start, this.end), this.start);
    this.#pool.give(this.bytes);
    this.bytes = small;
  }

  onSent(): void {
    this.#source.batchSent();
  }

  release(): void {
    this.#pool.give(this.bytes);
  }
}

/** Behind the tuples: the rest of the set, then what a sink may need. */
const TAIL_ROOM = SET_TAIL_BYTES_MAX + STREAM_MESSAGE_TAIL_MAX;

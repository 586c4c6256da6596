import { assert } from '../base/assert.ts';
import { malformed } from './malformed.ts';
import {
  BYTES,
  ProtobufCursor,
  tagOf,
  VARINT,
  VARINT32_BYTES_MAX,
  VARINT53_BYTES_MAX,
  varintBytes,
  writeVarint,
} from './protobuf-cursor.ts';

/*
  What stream managers send each other: one tuple set for one task, passed on unread.

  TupleStreamMessage => task_id  set  src_task_id  num_tuples  granted_bytes?  lost_bytes?
    task_id       0x08 destination
    set           0x12 length HeronTupleSet2
    src_task_id   0x18 task
    num_tuples    0x20 data tuples in the set
    granted_bytes 0xc0 0x3e bytes
    lost_bytes    0xc8 0x3e bytes

  The set is not copied: the head goes in front of it and the tail behind it, into free room there.
*/

export const TUPLE_STREAM_TYPE = 'heron.proto.stmgr.TupleStreamMessage';

const DESTINATION_TAG = tagOf(1, VARINT);
const SET_TAG = tagOf(2, BYTES);
const SOURCE_TASK_TAG = tagOf(3, VARINT);
const TUPLE_COUNT_TAG = tagOf(4, VARINT);
const GRANTED_BYTES_TAG = tagOf(1000, VARINT);
const LOST_BYTES_TAG = tagOf(1001, VARINT);

/** Room in front of a set: task_id, and tag and length of the set. */
export const STREAM_MESSAGE_HEAD_MAX = 1 + VARINT32_BYTES_MAX + 1 + VARINT32_BYTES_MAX;
/** Room behind a set: src_task_id, num_tuples and granted_bytes. */
export const STREAM_MESSAGE_TAIL_MAX =
  1 + VARINT32_BYTES_MAX + 1 + VARINT32_BYTES_MAX + 2 + VARINT53_BYTES_MAX;

/** Writes what stands in front of a set, right-aligned to it; returns where the message starts. */
export function writeStreamMessageHead(
  bytes: Uint8Array,
  setStart: number,
  setEnd: number,
  destinationTask: number,
): number {
  assert(destinationTask >= 0, 'task ids are not negative');
  const setBytes = setEnd - setStart;
  const start = setStart - varintBytes(setBytes) - 2 - varintBytes(destinationTask);
  assert(start >= 0, 'no room for the head of a TupleStreamMessage');
  bytes[start] = DESTINATION_TAG;
  const at = writeVarint(bytes, start + 1, destinationTask);
  bytes[at] = SET_TAG;
  writeVarint(bytes, at + 1, setBytes);
  return start;
}

/** Writes what stands behind a set; returns where the message ends. */
export function writeStreamMessageTail(
  bytes: Uint8Array,
  setEnd: number,
  sourceTask: number,
  tupleCount: number,
): number {
  assert(sourceTask >= 0, 'task ids are not negative');
  bytes[setEnd] = SOURCE_TASK_TAG;
  const at = writeVarint(bytes, setEnd + 1, sourceTask);
  bytes[at] = TUPLE_COUNT_TAG;
  const end = writeVarint(bytes, at + 1, tupleCount);
  assert(end <= bytes.length, 'no room for the tail of a TupleStreamMessage');
  return end;
}

/**
 * A message with an empty set that says: so many bytes more may be sent to the task. The last
 * `lostBytes` of them did not reach it; with `grantedBytes` 0 they are bytes of acks for its trees.
 */
export function grantedBytesMessage(
  destinationTask: number,
  grantedBytes: number,
  lostBytes = 0,
): Uint8Array {
  const bytes = new Uint8Array(STREAM_MESSAGE_HEAD_MAX + 2 * STREAM_MESSAGE_TAIL_MAX);
  const set = STREAM_MESSAGE_HEAD_MAX;
  const start = writeStreamMessageHead(bytes, set, set, destinationTask);
  let at = writeVarint(bytes, writeStreamMessageTail(bytes, set, 0, 0), GRANTED_BYTES_TAG);
  at = writeVarint(bytes, at, grantedBytes);
  if (lostBytes > 0) at = writeVarint(bytes, writeVarint(bytes, at, LOST_BYTES_TAG), lostBytes);
  return bytes.subarray(start, at);
}

/** Reads one message; used again for each. */
export class TupleStreamMessageReader {
  destinationTask = 0;
  sourceTask = 0;
  /** The range of the HeronTupleSet2 in the bytes that were given to `open`. */
  setStart = 0;
  setEnd = 0;
  tupleCount = 0;
  grantedBytes = 0;
  /** Of the granted bytes, the last ones; without granted bytes, of acks for the task's trees. */
  lostBytes = 0;
  readonly #cursor = new ProtobufCursor();

  /** Throws PACKET_MALFORMED. */
  open(bytes: Uint8Array, start: number, end: number): void {
    const cursor = this.#cursor;
    cursor.begin(bytes, start, end);
    this.grantedBytes = 0;
    this.lostBytes = 0;
    let found = 0;
    while (cursor.at < end) {
      const tag = cursor.readTag();
      switch (tag) {
        case DESTINATION_TAG:
          this.destinationTask = cursor.readInt32();
          found |= 1;
          break;
        case SET_TAG: {
          const length = cursor.readLength();
          this.setStart = cursor.at;
          cursor.at += length;
          this.setEnd = cursor.at;
          found |= 2;
          break;
        }
        case SOURCE_TASK_TAG:
          this.sourceTask = cursor.readInt32();
          found |= 4;
          break;
        case TUPLE_COUNT_TAG:
          this.tupleCount = cursor.readInt32();
          found |= 8;
          break;
        case GRANTED_BYTES_TAG:
          this.grantedBytes = cursor.readWhole();
          break;
        case LOST_BYTES_TAG:
          this.lostBytes = cursor.readWhole();
          break;
        default:
          cursor.skipUnknown(tag, 4);
      }
    }
    if (found !== 15) throw malformed('TupleStreamMessage lacks a required field');
  }
}

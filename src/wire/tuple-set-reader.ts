import { assert } from '../base/assert.ts';
import { BACK_PRESSURE_TAG } from './back-pressure-notice.ts';
import { malformed } from './malformed.ts';
import { halfAt, ProtobufCursor } from './protobuf-cursor.ts';
import { RootList } from './root-list.ts';
import type { StreamHeader, StreamHeaders } from './stream-header.ts';
import {
  CONSUMED_BYTES_TAG,
  CONTROL_TAG,
  DATA_TAG,
  DESTINATION_TAG,
  END_OF_INPUT_TAG,
  PLAN_EPOCH_TAG,
  GRANTED_BYTES_TAG,
  KEY_BYTES,
  KEY_TAG,
  PACKED_DESTINATIONS_TAG,
  ROOT_TAG,
  SOURCE_TASK_TAG,
  STREAM_TAG,
  TRACE_TAG,
  TUPLE_TAG,
  VALUE_TAG,
} from './tuple-set-format.ts';

/**
 * Walks through the bytes of one HeronTupleSet or HeronTupleSet2 (layout: tuple-set-format.ts)
 * without an object for a tuple: `open` reads what the set says of itself, each `next` moves to one
 * tuple.
 *
 *     reader.open(bytes, start, end);
 *     while (reader.next()) copy(bytes, reader.tupleStart, reader.tupleEnd);
 *
 * R1. All offsets are of the `bytes` given to `open` and lie inside the given range; what would
 *     leave it, or lacks a required field, throws PACKET_MALFORMED. A broken tuple is found when it
 *     is reached.
 * R2. Nothing is allocated for a tuple, except when one has more values than any before it.
 * R3. Fields of a tuple may come in any order, and unknown ones are passed over. The stream comes
 *     before the tuples and `data` and `control` come once, as every Heron process writes them.
 */
export class TupleSetReader {
  bytes: Uint8Array = new Uint8Array(0);

  // Of the set.
  sourceTask = 0;
  /** The stream of all its tuples; undefined when the set holds no data. */
  stream: StreamHeader | undefined;
  /** The range of its HeronControlTupleSet, for AckSetReader; both 0 when there is none. */
  controlStart = 0;
  controlEnd = 0;
  endOfInput = false;
  /** Beside `endOfInput`; 0 when there is none. */
  planEpoch = 0;
  consumedBytes = 0;
  grantedBytes = 0;
  /** The range of its BackPressure (back-pressure-notice.ts); both 0 when there is none. */
  backPressureStart = 0;
  backPressureEnd = 0;

  // Of the tuple.
  /** The whole field, tag and length included: what is copied from set to set. */
  tupleStart = 0;
  tupleEnd = 0;
  keyLow = 0;
  keyHigh = 0;
  readonly roots = new RootList();
  /** Of the last tuple of the set that had a trace; see `hasTrace`. */
  traceStart = 0;
  traceEnd = 0;
  valueCount = 0;
  destinationCount = 0;

  readonly #streams: StreamHeaders;
  readonly #cursor = new ProtobufCursor();
  #dataStart = 0;
  #dataEnd = 0;
  #passedStart = 0;
  /** Of a tuple that does not begin with its key. */
  #lateKeyStart = 0;
  /** Start and end of each value, one after the other. */
  #valueRanges = new Int32Array(32);
  #destinations = new Int32Array(8);

  constructor(streams: StreamHeaders) {
    this.#streams = streams;
  }

  open(bytes: Uint8Array, start: number, end: number): void {
    this.bytes = bytes;
    this.#forgetSet();
    const cursor = this.#cursor;
    cursor.begin(bytes, start, end);
    let hasSourceTask = false;
    while (cursor.at < end) {
      const tag = cursor.readTag();
      if (tag === SOURCE_TASK_TAG) {
        this.sourceTask = cursor.readInt32();
        hasSourceTask = true;
      } else if (tag === DATA_TAG) {
        if (this.#dataStart !== 0) throw malformed('HeronTupleSet holds its data twice');
        this.#dataEnd = this.#passBytes();
        this.#dataStart = this.#passedStart;
      } else this.#readRareField(tag);
    }
    if (!hasSourceTask) throw malformed('HeronTupleSet lacks its src_task_id');
    cursor.begin(bytes, this.#dataStart, this.#dataEnd);
    if (this.#dataStart !== 0) this.#readStream();
  }

  /** Moves to the next tuple; false when there is none. Throws PACKET_MALFORMED. */
  next(): boolean {
    const cursor = this.#cursor;
    while (cursor.at < this.#dataEnd) {
      const start = cursor.at;
      const tag = cursor.readTag();
      if (tag === TUPLE_TAG) {
        this.tupleStart = start;
        this.#readTuple();
        return true;
      }
      if (tag === STREAM_TAG) throw malformed('HeronDataTupleSet holds its stream twice');
      cursor.skipUnknown(tag, 2);
    }
    return false;
  }

  /**
   * Where the eight bytes of the tuple's key are. Looked for, since only tracked tuples need it.
   */
  get keyStart(): number {
    const { bytes } = this;
    let at = this.tupleStart + 1;
    while ((bytes[at] as number) >= 0x80) at += 1;
    return bytes[at + 1] === KEY_TAG ? at + 2 : this.#lateKeyStart;
  }

  /** Whether the tuple belongs to a sampled trace, which is between `traceStart` and `traceEnd`. */
  get hasTrace(): boolean {
    return this.traceStart > this.tupleStart && this.traceEnd <= this.tupleEnd;
  }

  /** Where a value of the tuple starts; the tag and length are in front of it. */
  valueStart(index: number): number {
    assert(index < this.valueCount, 'the tuple has no such value');
    return this.#valueRanges[index * 2] as number;
  }

  valueEnd(index: number): number {
    assert(index < this.valueCount, 'the tuple has no such value');
    return this.#valueRanges[index * 2 + 1] as number;
  }

  /** A task that the sender chose, for direct and custom grouping. */
  destination(index: number): number {
    assert(index < this.destinationCount, 'the tuple has no such destination');
    return this.#destinations[index] as number;
  }

  #forgetSet(): void {
    this.sourceTask = 0;
    this.stream = undefined;
    this.controlStart = 0;
    this.controlEnd = 0;
    this.endOfInput = false;
    this.planEpoch = 0;
    this.consumedBytes = 0;
    this.grantedBytes = 0;
    this.backPressureStart = 0;
    this.backPressureEnd = 0;
    this.traceStart = 0;
    this.#dataStart = 0;
    this.#dataEnd = 0;
  }

  #readRareField(tag: number): void {
    const cursor = this.#cursor;
    switch (tag) {
      case CONTROL_TAG:
        if (this.controlStart !== 0) throw malformed('HeronTupleSet holds its control twice');
        this.controlEnd = this.#passBytes();
        this.controlStart = this.#passedStart;
        break;
      case END_OF_INPUT_TAG:
        this.endOfInput = cursor.readBool();
        break;
      case CONSUMED_BYTES_TAG:
        this.consumedBytes = cursor.readWhole();
        break;
      case GRANTED_BYTES_TAG:
        this.grantedBytes = cursor.readWhole();
        break;
      case PLAN_EPOCH_TAG:
        this.planEpoch = cursor.readWhole();
        break;
      case BACK_PRESSURE_TAG:
        this.backPressureEnd = this.#passBytes();
        this.backPressureStart = this.#passedStart;
        break;
      default:
        cursor.skipUnknown(tag, 3);
    }
  }

  #readStream(): void {
    const cursor = this.#cursor;
    while (cursor.at < this.#dataEnd) {
      const tag = cursor.readTag();
      if (tag === STREAM_TAG) {
        const end = this.#passBytes();
        this.stream = this.#streams.read(this.bytes, this.#passedStart, end);
        return;
      }
      if (tag === TUPLE_TAG) break;
      cursor.skipUnknown(tag, 2);
    }
    throw malformed('HeronDataTupleSet does not begin with its stream');
  }

  #readTuple(): void {
    const cursor = this.#cursor;
    const length = cursor.readLength();
    const end = cursor.at + length;
    cursor.end = end;
    this.tupleEnd = end;
    this.roots.clear();
    this.valueCount = 0;
    this.destinationCount = 0;
    let hasKey = this.#readUsualStart(end);
    while (cursor.at < end) {
      const tag = cursor.readTag();
      switch (tag) {
        case KEY_TAG:
          if (hasKey) throw malformed('HeronDataTuple holds its key twice');
          this.#lateKeyStart = cursor.at;
          this.keyLow = cursor.readHalf();
          this.keyHigh = cursor.readHalf();
          hasKey = true;
          break;
        case VALUE_TAG:
          this.#addValue(this.#passBytes());
          break;
        case ROOT_TAG:
          this.roots.read(cursor);
          break;
        case DESTINATION_TAG:
          this.#addDestination(cursor.readInt32());
          break;
        case TRACE_TAG:
          this.traceEnd = this.#passBytes();
          this.traceStart = this.#passedStart;
          break;
        case PACKED_DESTINATIONS_TAG:
          this.#readPackedDestinations();
          break;
        default:
          cursor.skipUnknown(tag, 4);
      }
    }
    cursor.end = this.#dataEnd;
    if (!hasKey) throw malformed('HeronDataTuple lacks its key');
  }

  /**
   * Reads as far as a tuple looks like almost all of them: its key, its roots, and then values of
   * up to 127 bytes. Tells whether there was a key; what follows is for the general loop.
   */
  #readUsualStart(end: number): boolean {
    const { bytes } = this;
    const cursor = this.#cursor;
    let { at } = cursor;
    if (bytes[at] !== KEY_TAG || end - at < KEY_BYTES) return false;
    this.keyLow = halfAt(bytes, at + 1);
    this.keyHigh = halfAt(bytes, at + 5);
    at += KEY_BYTES;
    while (bytes[at] === ROOT_TAG && at < end) {
      const behind = this.roots.readUsual(bytes, at + 1, end);
      if (behind < 0) break;
      at = behind;
    }
    while (end - at >= 2 && bytes[at] === VALUE_TAG) {
      const start = at + 2;
      const length = bytes[at + 1] as number;
      if (length >= 0x80 || length > end - start) break;
      this.#passedStart = start;
      at = start + length;
      this.#addValue(at);
    }
    cursor.at = at;
    return true;
  }

  #readPackedDestinations(): void {
    const cursor = this.#cursor;
    const tupleEnd = cursor.end;
    const length = cursor.readLength();
    cursor.end = cursor.at + length;
    while (cursor.at < cursor.end) this.#addDestination(cursor.readInt32());
    cursor.end = tupleEnd;
  }

  /** Passes over a field of bytes; returns its end and leaves its start in `#passedStart`. */
  #passBytes(): number {
    const cursor = this.#cursor;
    const length = cursor.readLength();
    this.#passedStart = cursor.at;
    cursor.at += length;
    return cursor.at;
  }

  #addValue(end: number): void {
    const at = this.valueCount * 2;
    if (at === this.#valueRanges.length) this.#valueRanges = doubled(this.#valueRanges);
    this.#valueRanges[at] = this.#passedStart;
    this.#valueRanges[at + 1] = end;
    this.valueCount += 1;
  }

  #addDestination(task: number): void {
    const at = this.destinationCount;
    if (at === this.#destinations.length) this.#destinations = doubled(this.#destinations);
    this.#destinations[at] = task;
    this.destinationCount += 1;
  }
}

function doubled(list: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(list.length * 2);
  larger.set(list);
  return larger;
}

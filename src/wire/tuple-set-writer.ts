import { assert } from '../base/assert.ts';
import type { Roots } from './fail-detail.ts';
import { VARINT32_BYTES_MAX, varintBytes, writeVarint } from './protobuf-cursor.ts';
import { ROOT_BYTES_MAX, writeRoot } from './root-id.ts';
import type { StreamHeader } from './stream-header.ts';
import {
  CONSUMED_BYTES_TAG,
  DATA_TAG,
  DESTINATION_TAG,
  END_OF_INPUT_TAG,
  PLAN_EPOCH_TAG,
  GRANTED_BYTES_TAG,
  KEY_BYTES,
  KEY_TAG,
  ROOT_TAG,
  SET_HEAD_BYTES_MAX,
  SET_TAIL_BYTES_MAX,
  SOURCE_TASK_TAG,
  TRACE_TAG,
  TUPLE_TAG,
  VALUE_TAG,
} from './tuple-set-format.ts';
import { encodeValue } from './values.ts';

const NO_DESTINATIONS: readonly number[] = [];

/** What a set needs besides its tuples, at most. */
export function tupleSetOverhead(header: StreamHeader): number {
  return SET_HEAD_BYTES_MAX + header.bytes.length + SET_TAIL_BYTES_MAX;
}

/**
 * Writes one HeronTupleSet or HeronTupleSet2 with data (layout: tuple-set-format.ts) into a region
 * that the caller gives, with no object and no copy for a tuple.
 *
 *     region:  [ room | 0x0a length | stream | tuple tuple tuple … | 0x18 task | room ]
 *                     ^ start                                                  ^ end
 *
 * W1. The tuples begin at a fixed place. The data's length stands in front of them and is known
 *     last, so `finish` writes it right-aligned; the set begins where that comes out.
 * W2. A tuple that does not fit leaves the set as it was, and so does a value that cannot be sent.
 * W3. The bytes are the ones that the generated code would write: lengths take as few bytes as they
 *     can. A length stands in front of what it measures, so it is guessed, and the bytes behind it
 *     are moved when the guess was wrong: for a tuple the length's size of the tuple before, for a
 *     value one byte.
 */
export class TupleSetWriter {
  /** Where the finished set lies. */
  start = 0;
  end = 0;
  tupleCount = 0;

  #bytes: Uint8Array = new Uint8Array(0);
  #header: StreamHeader | undefined;
  #sourceTask = 0;
  #tuplesStart = 0;
  #at = 0;
  /** Where tuples have to end, so that the tail still fits. */
  #limit = 0;
  #lengthBytesGuess = 1;

  /** Starts an empty set in a region of at least `tupleSetOverhead(header)` bytes. */
  begin(
    bytes: Uint8Array,
    regionStart: number,
    regionEnd: number,
    header: StreamHeader,
    sourceTask: number,
  ): void {
    assert(sourceTask >= 0, 'task ids are not negative');
    this.#bytes = bytes;
    this.#header = header;
    this.#sourceTask = sourceTask;
    this.#tuplesStart = regionStart + SET_HEAD_BYTES_MAX + header.bytes.length;
    this.#at = this.#tuplesStart;
    this.#limit = regionEnd - SET_TAIL_BYTES_MAX;
    this.tupleCount = 0;
    assert(this.#at <= this.#limit, 'the region is smaller than an empty set');
  }

  /** Bytes of the tuples so far. */
  get tupleBytes(): number {
    return this.#at - this.#tuplesStart;
  }

  /**
   * Appends a tuple with key 0, without roots unless they are given. Returns false when it does not
   * fit (W2).
   *
   * @throws EngineError with code VALUE_NOT_SERIALIZABLE.
   */
  addTuple(
    values: readonly unknown[],
    destinations: readonly number[] = NO_DESTINATIONS,
    roots?: Roots,
  ): boolean {
    const bodyStart = this.#at + 1 + this.#lengthBytesGuess;
    if (bodyStart + KEY_BYTES > this.#limit) return false;
    let at = this.#writeKey(bodyStart);
    if (roots !== undefined) {
      at = this.#writeRoots(roots, at);
      if (at < 0) return false;
    }
    for (let index = 0; index < values.length; index += 1) {
      at = this.#writeValue(values[index], at);
      if (at < 0) return false;
    }
    for (let index = 0; index < destinations.length; index += 1) {
      if (at + 1 + VARINT32_BYTES_MAX > this.#limit) return false;
      at = writeTask(this.#bytes, at, DESTINATION_TAG, destinations[index] as number);
    }
    return this.#closeTuple(bodyStart, at);
  }

  /**
   * As `addTuple`, for a tuple of a sampled trace; `trace` is what trace-context.ts makes. Not hot.
   *
   * @throws EngineError with code VALUE_NOT_SERIALIZABLE.
   */
  addTraced(
    values: readonly unknown[],
    destinations: readonly number[] | undefined,
    roots: Roots | undefined,
    trace: Uint8Array,
  ): boolean {
    const before = { at: this.#at, count: this.tupleCount, guess: this.#lengthBytesGuess };
    if (!this.addTuple(values, destinations, roots)) return false;
    const bytes = this.#bytes;
    // Behind the tuple's tag and length, which are written anew when the field is there.
    const bodyStart = before.at + 1 + this.#lengthBytesGuess;
    const traceAt = this.#at;
    const traceBytes = varintBytes(TRACE_TAG) + varintBytes(trace.length) + trace.length;
    const hasRoom = traceAt + traceBytes <= this.#limit;
    if (hasRoom) {
      const at = writeVarint(bytes, writeVarint(bytes, traceAt, TRACE_TAG), trace.length);
      bytes.set(trace, at);
    }
    this.#at = before.at;
    this.tupleCount = before.count;
    if (hasRoom && this.#closeTuple(bodyStart, traceAt + traceBytes)) return true;
    this.#lengthBytesGuess = before.guess;
    return false;
  }

  /**
   * Completes the set; `start` and `end` say where it lies. The writer is free for the next
   * `begin`.
   */
  finish(): void {
    const bytes = this.#bytes;
    const header = this.#header;
    assert(header !== undefined, 'no set was begun');
    const streamStart = this.#tuplesStart - header.bytes.length;
    const dataBytes = this.#at - streamStart;
    bytes.set(header.bytes, streamStart);
    this.start = streamStart - varintBytes(dataBytes) - 1;
    bytes[this.start] = DATA_TAG;
    writeVarint(bytes, this.start + 1, dataBytes);
    this.end = writeTask(bytes, this.#at, SOURCE_TASK_TAG, this.#sourceTask);
    this.#header = undefined;
  }

  #writeKey(at: number): number {
    const bytes = this.#bytes;
    bytes[at] = KEY_TAG;
    for (let index = 1; index < KEY_BYTES; index += 1) bytes[at + index] = 0;
    return at + KEY_BYTES;
  }

  /** Returns the offset behind the roots, or -1 when they do not fit. */
  #writeRoots(roots: Roots, start: number): number {
    const bytes = this.#bytes;
    let at = start;
    for (let index = 0; index < roots.count; index += 1) {
      if (at + ROOT_BYTES_MAX > this.#limit) return -1;
      const task = roots.task(index);
      at = writeRoot(bytes, at, ROOT_TAG, task, roots.keyLow(index), roots.keyHigh(index));
    }
    return at;
  }

  /** Returns the offset behind the value, or -1 when it does not fit. */
  #writeValue(value: unknown, at: number): number {
    const bytes = this.#bytes;
    const limit = this.#limit;
    const valueStart = at + 2;
    if (valueStart > limit) return -1;
    const valueEnd = encodeValue(value, bytes, valueStart, limit);
    if (valueEnd < 0) return -1;
    bytes[at] = VALUE_TAG;
    return setLength(bytes, valueStart, valueEnd, 1, limit);
  }

  #closeTuple(bodyStart: number, bodyEnd: number): boolean {
    const bytes = this.#bytes;
    const guess = this.#lengthBytesGuess;
    const end = setLength(bytes, bodyStart, bodyEnd, guess, this.#limit);
    const length = bodyEnd - bodyStart;
    this.#lengthBytesGuess = length < 0x80 ? 1 : varintBytes(length);
    if (end < 0) return false;
    bytes[this.#at] = TUPLE_TAG;
    this.#at = end;
    this.tupleCount += 1;
    return true;
  }
}

/**
 * Writes the length of a range in front of it, where `reserved` bytes are free, and moves the range
 * when the length takes more or fewer. Returns the range's new end, or -1 when that lies beyond the
 * limit.
 */
function setLength(
  bytes: Uint8Array,
  start: number,
  end: number,
  reserved: number,
  limit: number,
): number {
  const length = end - start;
  if (length < 0x80 && reserved === 1) {
    bytes[start - 1] = length; // Most values and tuples.
    return end;
  }
  const shift = varintBytes(length) - reserved;
  if (shift !== 0) {
    if (end + shift > limit) return -1;
    bytes.copyWithin(start + shift, start, end);
  }
  writeVarint(bytes, start - reserved, length);
  return end + shift;
}

function writeTask(bytes: Uint8Array, at: number, tag: number, task: number): number {
  assert(task >= 0, 'task ids are not negative');
  bytes[at] = tag;
  return writeVarint(bytes, at + 1, task);
}

/** A set without data that says: the source task will send nothing more. */
export function endOfInputSet(sourceTask: number): Uint8Array {
  return bareSet(sourceTask, END_OF_INPUT_TAG, 1);
}

/** The same, with the plan that its stream manager worked by when it ended. */
export function endOfInputByPlanSet(sourceTask: number, planEpoch: number): Uint8Array {
  const end = endOfInputSet(sourceTask);
  const bytes = new Uint8Array(end.length + varintBytes(PLAN_EPOCH_TAG) + varintBytes(planEpoch));
  bytes.set(end);
  writeVarint(bytes, writeVarint(bytes, end.length, PLAN_EPOCH_TAG), planEpoch);
  return bytes;
}

/** A set without data that says: the source task has worked off so many bytes. */
export function consumedBytesSet(sourceTask: number, consumedBytes: number): Uint8Array {
  return bareSet(sourceTask, CONSUMED_BYTES_TAG, consumedBytes);
}

/** A set without data that says: so many bytes more may be sent. */
export function grantedBytesSet(sourceTask: number, grantedBytes: number): Uint8Array {
  return bareSet(sourceTask, GRANTED_BYTES_TAG, grantedBytes);
}

function bareSet(sourceTask: number, tag: number, value: number): Uint8Array {
  const bytes = new Uint8Array(1 + varintBytes(sourceTask) + varintBytes(tag) + varintBytes(value));
  const at = writeVarint(bytes, writeTask(bytes, 0, SOURCE_TASK_TAG, sourceTask), tag);
  writeVarint(bytes, at, value);
  return bytes;
}

import { assert } from '../base/assert.ts';
import {
  ACK_ROOT_TAG,
  ACKED_TUPLE_BYTES,
  ACKED_TUPLE_TAG,
  ACKS_TAG,
  DETAIL_TAG,
  FAILS_TAG,
} from './ack-tuple-format.ts';
import { varintBytes, writeHalf, writeVarint } from './protobuf-cursor.ts';
import { rootBytes, writeRoot } from './root-id.ts';
import { CONTROL_TAG, SOURCE_TASK_TAG } from './tuple-set-format.ts';

const TAG_BYTES = 1;
const DETAIL_TAG_BYTES = 2;

/** From this size on a set is sent even while more is at hand. */
const FULL_BYTES = 32 * 1024;
const NO_DETAIL: Uint8Array = new Uint8Array(0);

/**
 * Trees of one spout task that are over, gathered into one set without data: how a spout hears of
 * its trees, and how the stream manager of a spout hears that tuples of them have failed.
 *
 *     control => 0x12 length  (0x0a ack)*  (0x12 fail)*          src_task_id => 0x18 task
 *     ack, fail => length  root  0x11 eight zeros  detail?
 *       root    => 0x0a length 0x08 taskid 0x11 key
 *       detail  => 0xc2 0x3e length FailDetail                   fail-detail.ts
 */
export class SettledRoots {
  readonly #task: number;
  readonly #taskBytes: number;
  /** Low and high halves of the keys. */
  #acks = new Int32Array(32);
  #ackCount = 0;
  #fails = new Int32Array(8);
  #details: Uint8Array[] = [];
  #failBytes = 0;

  /** `task` is the spout's. */
  constructor(task: number) {
    assert(task >= 0, 'task ids are not negative');
    this.#task = task;
    this.#taskBytes = varintBytes(task);
  }

  get ackCount(): number {
    return this.#ackCount;
  }

  get failCount(): number {
    return this.#details.length;
  }

  get isEmpty(): boolean {
    return this.#ackCount === 0 && this.#details.length === 0;
  }

  /** So much has gathered that it should be sent. */
  get isFull(): boolean {
    return this.#controlBytes >= FULL_BYTES;
  }

  addAck(keyLow: number, keyHigh: number): void {
    const at = this.#ackCount * 2;
    if (at === this.#acks.length) this.#acks = doubled(this.#acks);
    this.#acks[at] = keyLow;
    this.#acks[at + 1] = keyHigh;
    this.#ackCount += 1;
  }

  /** `detail` is a FailDetail, which must stay as it is; an empty one is left out. */
  addFail(keyLow: number, keyHigh: number, detail: Uint8Array): void {
    const at = this.#details.length * 2;
    if (at === this.#fails.length) this.#fails = doubled(this.#fails);
    this.#fails[at] = keyLow;
    this.#fails[at + 1] = keyHigh;
    this.#details.push(detail);
    const bodyBytes = this.#bodyBytes(detail);
    this.#failBytes += TAG_BYTES + varintBytes(bodyBytes) + bodyBytes;
  }

  /** Exactly what `writeSet` needs. */
  byteLength(sourceTask: number): number {
    const control = this.#controlBytes;
    return TAG_BYTES + varintBytes(control) + control + TAG_BYTES + varintBytes(sourceTask);
  }

  /** Writes a HeronTupleSet2 and returns its end. What has gathered stays. */
  writeSet(bytes: Uint8Array, start: number, sourceTask: number): number {
    bytes[start] = CONTROL_TAG;
    let at = writeVarint(bytes, start + 1, this.#controlBytes);
    for (let index = 0; index < this.#ackCount; index += 1) {
      at = this.#writeEntry(bytes, at, ACKS_TAG, this.#acks, index, NO_DETAIL);
    }
    for (const [index, detail] of this.#details.entries()) {
      at = this.#writeEntry(bytes, at, FAILS_TAG, this.#fails, index, detail);
    }
    bytes[at] = SOURCE_TASK_TAG;
    return writeVarint(bytes, at + 1, sourceTask);
  }

  clear(): void {
    this.#ackCount = 0;
    this.#details = [];
    this.#failBytes = 0;
  }

  get #controlBytes(): number {
    return this.#ackCount * (TAG_BYTES + 1 + this.#bodyBytes(NO_DETAIL)) + this.#failBytes;
  }

  #bodyBytes(detail: Uint8Array): number {
    const { length } = detail;
    const bare = rootBytes(this.#taskBytes) + ACKED_TUPLE_BYTES;
    return bare + (length > 0 ? DETAIL_TAG_BYTES + varintBytes(length) + length : 0);
  }

  #writeEntry(
    bytes: Uint8Array,
    start: number,
    tag: number,
    keys: Int32Array,
    index: number,
    detail: Uint8Array,
  ): number {
    bytes[start] = tag;
    let at = writeVarint(bytes, start + 1, this.#bodyBytes(detail));
    const low = keys[index * 2] as number;
    const high = keys[index * 2 + 1] as number;
    at = writeRoot(bytes, at, ACK_ROOT_TAG, this.#task, low, high);
    bytes[at] = ACKED_TUPLE_TAG;
    writeHalf(bytes, at + 1, 0); // A call of `fill` costs more.
    writeHalf(bytes, at + 5, 0);
    at += ACKED_TUPLE_BYTES;
    if (detail.length === 0) return at;
    at = writeVarint(bytes, writeVarint(bytes, at, DETAIL_TAG), detail.length);
    bytes.set(detail, at);
    return at + detail.length;
  }
}

function doubled(list: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(list.length * 2);
  larger.set(list);
  return larger;
}

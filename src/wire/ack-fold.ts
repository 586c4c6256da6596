import { assert } from '../base/assert.ts';
import {
  ACK_ROOT_TAG,
  ACKED_TUPLE_BYTES,
  ACKED_TUPLE_TAG,
  ACKS_TAG,
  EMITS_TAG,
} from './ack-tuple-format.ts';
import { VARINT32_BYTES_MAX, varintBytes, writeHalf, writeVarint } from './protobuf-cursor.ts';
import { rootBytes, writeRoot } from './root-id.ts';
import { CONTROL_TAG, SOURCE_TASK_TAG } from './tuple-set-format.ts';

/** Body of an AckTuple without the bytes of the root's task. */
const BODY_BYTES = rootBytes(0) + ACKED_TUPLE_BYTES;
/** Tag and length of an AckTuple, and its body. */
const ENTRY_BYTES_MAX = 2 + BODY_BYTES + VARINT32_BYTES_MAX;
/** What stands around the entries: control with its length, and src_task_id. */
const AROUND_BYTES_MAX = 2 * (1 + VARINT32_BYTES_MAX);

/** A set of that many is 28 KiB: as large as a full batch of tuples. */
const ROOTS_MAX = 1024;
const ROOT_BITS = 10;
/** Twice as many slots as roots, so that searches are short. */
const SLOTS = 2 * ROOTS_MAX;
/** The stamp of a slot stands above the index of its entry. */
const STAMPS_MAX = 2 ** (31 - ROOT_BITS);

/** Fields of an entry, in int32s. */
const TASK = 0;
const ROOT_LOW = 1;
const ROOT_HIGH = 2;
const KEY_LOW = 3;
const KEY_HIGH = 4;
const IS_ACK = 5;
const FIELDS = 6;

/**
 * Acks, and emits, gathered before they are sent: one entry for each root, with the XOR of the keys
 * of its tuples. XOR is all that the root's ledger does with them, so that many acks of one tree
 * cost it no more than one, and a tuple that was emitted and acked here costs nothing at all.
 *
 *     entries   [ task  root low, high  key low, high  is ack ] …    in the order of their coming
 *     slots     stamp << 10 | index of the entry                     by hash of the root
 *
 * F1. An entry is an ack when an ack took part in it, otherwise it is an emit.
 * F2. Nothing is allocated after the constructor. A slot counts only when its stamp is the one of
 *     now, so that `clear` is a matter of counting.
 */
export class AckFold {
  #count = 0;
  #stamp = 1;
  readonly #entries = new Int32Array(ROOTS_MAX * FIELDS);
  readonly #slots = new Int32Array(SLOTS);

  /** Roots that have an entry. */
  get count(): number {
    return this.#count;
  }

  /** No root more may be added: it has to be written and cleared first. */
  get isFull(): boolean {
    return this.#count === ROOTS_MAX;
  }

  /** Enough for what `writeSet` will write now. */
  get byteLengthMax(): number {
    return AROUND_BYTES_MAX + this.#count * ENTRY_BYTES_MAX;
  }

  /**
   * Adds a tuple of a tree. The fold must not be full. Keys are 64 bits in two int32 halves.
   *
   * @param rootTask the spout task that began the tree
   */
  add(
    rootTask: number,
    rootLow: number,
    rootHigh: number,
    keyLow: number,
    keyHigh: number,
    kind: 'ack' | 'emit',
  ): void {
    const entries = this.#entries;
    const at = this.#entryOf(rootTask, rootLow, rootHigh);
    entries[at + KEY_LOW] = (entries[at + KEY_LOW] as number) ^ keyLow;
    entries[at + KEY_HIGH] = (entries[at + KEY_HIGH] as number) ^ keyHigh;
    if (kind === 'ack') entries[at + IS_ACK] = 1;
  }

  /**
   * Writes a HeronTupleSet, which looks like a HeronTupleSet2, and returns its end. There must be
   * `byteLengthMax` bytes of room. The fold stays as it is.
   *
   *     0x12 length  (0x0a ack)*  (0x1a emit)*  0x18 src_task_id
   *     ack, emit => length  0x0a length 0x08 taskid 0x11 root key  0x11 XOR of the keys
   */
  writeSet(bytes: Uint8Array, start: number, sourceTask: number): number {
    assert(sourceTask >= 0, 'task ids are not negative');
    bytes[start] = CONTROL_TAG;
    let at = writeVarint(bytes, start + 1, this.#controlBytes());
    at = this.#writeEntries(bytes, at, ACKS_TAG, 1);
    at = this.#writeEntries(bytes, at, EMITS_TAG, 0);
    bytes[at] = SOURCE_TASK_TAG;
    return writeVarint(bytes, at + 1, sourceTask);
  }

  clear(): void {
    this.#count = 0;
    this.#stamp += 1;
    if (this.#stamp < STAMPS_MAX) return;
    this.#stamp = 1;
    this.#slots.fill(0);
  }

  /** Where the entry of a root is; a new one has key 0. */
  #entryOf(task: number, low: number, high: number): number {
    const entries = this.#entries;
    const slots = this.#slots;
    // Roots of one task differ in their low halves, ascending or at random: both spread well.
    let slot = (Math.imul(low ^ Math.imul(high ^ task, 0x85ebca6b), 0x9e3779b1) >>> 16) % SLOTS;
    for (;;) {
      const found = slots[slot] as number;
      if (found >>> ROOT_BITS !== this.#stamp) break;
      const at = (found % ROOTS_MAX) * FIELDS;
      if (
        entries[at + ROOT_LOW] === low &&
        entries[at + ROOT_HIGH] === high &&
        entries[at + TASK] === task
      ) {
        return at;
      }
      slot = (slot + 1) % SLOTS;
    }
    assert(this.#count < ROOTS_MAX, 'a full fold is written before it takes more');
    const at = this.#count * FIELDS;
    slots[slot] = this.#stamp * ROOTS_MAX + this.#count;
    this.#count += 1;
    entries[at + TASK] = task;
    entries[at + ROOT_LOW] = low;
    entries[at + ROOT_HIGH] = high;
    entries[at + KEY_LOW] = 0;
    entries[at + KEY_HIGH] = 0;
    entries[at + IS_ACK] = 0;
    return at;
  }

  #controlBytes(): number {
    let sum = 0;
    for (let index = 0; index < this.#count; index += 1) {
      sum += 2 + BODY_BYTES + varintBytes(this.#entries[index * FIELDS + TASK] as number);
    }
    return sum;
  }

  #writeEntries(bytes: Uint8Array, start: number, tag: number, isAck: number): number {
    const entries = this.#entries;
    let at = start;
    for (let index = 0; index < this.#count; index += 1) {
      const entry = index * FIELDS;
      if (entries[entry + IS_ACK] !== isAck) continue;
      const task = entries[entry + TASK] as number;
      const low = entries[entry + ROOT_LOW] as number;
      const high = entries[entry + ROOT_HIGH] as number;
      bytes[at] = tag;
      bytes[at + 1] = BODY_BYTES + varintBytes(task);
      at = writeRoot(bytes, at + 2, ACK_ROOT_TAG, task, low, high);
      bytes[at] = ACKED_TUPLE_TAG;
      writeHalf(bytes, at + 1, entries[entry + KEY_LOW] as number);
      writeHalf(bytes, at + 5, entries[entry + KEY_HIGH] as number);
      at += ACKED_TUPLE_BYTES;
    }
    return at;
  }
}

import { assert } from '../base/assert.ts';

/*
  The live trees of one spout task: root key → XOR of the keys that are out, and a stamp that says
  when the tree was made. A hash table without an object for a tree, in pieces that grow one by one
  (extendible hashing: Fagin, Nievergelt, Pippenger and Strong, 1979).

      hash of the root:   [ upper bits: which segment | … | lower bits: first slot in it ]

      directory  [ A ][ A ][ B ][ C ]      2^bits entries; one with fewer bits stands in several
      segment    [ slot ][ slot ] …        linear probing, up to 4,096 slots
      slot       key low · key high · xor low · xor high · stamp          five int32s

  T1. A slot is free when its stamp is 0. A segment is at most three quarters full.
  T2. A removed tree leaves no mark: those behind it move up (Knuth, TAOCP 3, algorithm 6.4 R).
  T3. Memory per tree: a slot has 20 bytes, so 40 at half load; segments that fill and split are on
      average half full (0.375 right after a split, 0.75 right before one). A directory entry has 8
      bytes for some 2,000 trees.
  T4. No call takes long: the worst one splits a segment, which moves 3,072 trees at most (0.1 ms;
      bench/ledger.ts), and may copy the directory (4,096 entries at ten million trees).
  T5. Memory comes back when `shrink` is called: neighbours of which each is below an eighth become
      one again. It is called now and then, so that a number of trees that goes up and down within
      milliseconds, as it does in every busy topology, costs nothing.
*/

const KEY_LOW = 0;
const KEY_HIGH = 1;
const XOR_LOW = 2;
const XOR_HIGH = 3;
const STAMP = 4;
const FIELDS = 5;

const SLOTS_MIN = 64;
const SLOTS_MAX = 4096;
const MERGE_BELOW = SLOTS_MAX / 8;
/** 2^26 segments of 3,072 trees are far more than fit into any memory. */
const BITS_MAX = 26;
const WHOLE_RANGE = 2 ** 32;

/** What `settle` says of a tree that there is none of. */
const ABSENT = -1;

interface Segment {
  cells: Int32Array;
  /** Slots less one. */
  mask: number;
  /** How many upper bits all hashes in it have in common. */
  bits: number;
  count: number;
}

export class TreeTable {
  /** Of the tree that the last `create`, `settle` or `remove` took out. */
  removedStamp = 0;
  #count = 0;
  #slots = SLOTS_MIN;
  /** At least 1, since JavaScript shifts by 32 are shifts by 0. */
  #bits = 1;
  #directory: Segment[];

  constructor() {
    const segment = emptySegment(SLOTS_MIN, 0);
    this.#directory = [segment, segment];
  }

  /** Live trees. */
  get count(): number {
    return this.#count;
  }

  /** Bytes of all slots. */
  get byteLength(): number {
    return this.#slots * FIELDS * Int32Array.BYTES_PER_ELEMENT;
  }

  /**
   * Adds a tree; `stamp` is above 0. A live one of the same key is forgotten: returns true then,
   * and `removedStamp` is what it had.
   */
  create(keyLow: number, keyHigh: number, xorLow: number, xorHigh: number, stamp: number): boolean {
    const hash = hashOf(keyLow, keyHigh);
    let segment = this.#segmentOf(hash);
    let at = findIn(segment, hash, keyLow, keyHigh);
    const wasLive = segment.cells[at + STAMP] !== 0;
    if (wasLive) this.removedStamp = segment.cells[at + STAMP] as number;
    else {
      if ((segment.count + 1) * 4 > (segment.mask + 1) * 3) {
        segment = this.#makeRoom(segment, hash);
        at = findIn(segment, hash, keyLow, keyHigh);
      }
      segment.count += 1;
      this.#count += 1;
    }
    const { cells } = segment;
    cells[at + KEY_LOW] = keyLow;
    cells[at + KEY_HIGH] = keyHigh;
    cells[at + XOR_LOW] = xorLow;
    cells[at + XOR_HIGH] = xorHigh;
    cells[at + STAMP] = stamp;
    return wasLive;
  }

  /**
   * Folds a key into a tree. Returns -1 when there is no such tree, 1 when nothing of it is out any
   * more: then it has been taken out and `removedStamp` is what it had. 0 otherwise.
   */
  settle(keyLow: number, keyHigh: number, xorLow: number, xorHigh: number): -1 | 0 | 1 {
    const hash = hashOf(keyLow, keyHigh);
    const segment = this.#segmentOf(hash);
    const at = findIn(segment, hash, keyLow, keyHigh);
    const { cells } = segment;
    if (cells[at + STAMP] === 0) return ABSENT;
    const low = (cells[at + XOR_LOW] as number) ^ xorLow;
    const high = (cells[at + XOR_HIGH] as number) ^ xorHigh;
    if ((low | high) === 0) {
      this.#takeOut(segment, at);
      return 1;
    }
    cells[at + XOR_LOW] = low;
    cells[at + XOR_HIGH] = high;
    return 0;
  }

  /** Takes a tree out; false when there is none. */
  remove(keyLow: number, keyHigh: number): boolean {
    const hash = hashOf(keyLow, keyHigh);
    const segment = this.#segmentOf(hash);
    const at = findIn(segment, hash, keyLow, keyHigh);
    if (segment.cells[at + STAMP] === 0) return false;
    this.#takeOut(segment, at);
    return true;
  }

  /** Forgets all trees and gives their memory back. */
  clear(): void {
    const segment = emptySegment(SLOTS_MIN, 0);
    this.#directory = [segment, segment];
    this.#bits = 1;
    this.#count = 0;
    this.#slots = SLOTS_MIN;
  }

  /**
   * Takes all trees out of one segment whose stamps are `through` or less, and says so of each.
   * `from` is where in the range of hashes the segment is: 0 first, then what the last call
   * returned, until that is 2^32. Trees may come and go between two calls, and none is missed; they
   * must not within one.
   */
  sweep(
    from: number,
    through: number,
    onRemoved: (keyLow: number, keyHigh: number, stamp: number) => void,
  ): number {
    const segment = this.#segmentOf(from | 0);
    const { cells, mask } = segment;
    for (let slot = 0; slot <= mask; ) {
      const at = slot * FIELDS;
      const stamp = cells[at + STAMP] as number;
      if (stamp === 0 || stamp > through) {
        slot += 1;
        continue;
      }
      const keyLow = cells[at + KEY_LOW] as number;
      const keyHigh = cells[at + KEY_HIGH] as number;
      removeAt(cells, mask, slot); // Another one may stand in this slot now: it is looked at next.
      segment.count -= 1;
      this.#count -= 1;
      onRemoved(keyLow, keyHigh, stamp);
    }
    return behind(segment, from);
  }

  /**
   * Gives memory back that has not been needed lately (T5), in up to `mergesMax` steps of some
   * microseconds.
   */
  shrink(mergesMax: number): void {
    if (this.#count === 0) {
      if (this.#slots > SLOTS_MAX) this.clear();
      return;
    }
    let merges = 0;
    for (let from = 0; from < WHOLE_RANGE && merges < mergesMax; ) {
      const segment = this.#segmentOf(from | 0);
      from = behind(segment, from);
      if (segment.count < MERGE_BELOW) merges += this.#mergeUp(segment, (from - 1) | 0);
    }
  }

  #segmentOf(hash: number): Segment {
    return this.#directory[hash >>> (32 - this.#bits)] as Segment;
  }

  #takeOut(segment: Segment, at: number): void {
    this.removedStamp = segment.cells[at + STAMP] as number;
    removeAt(segment.cells, segment.mask, at / FIELDS);
    segment.count -= 1;
    this.#count -= 1;
  }

  /** Makes the segment of a hash larger, or two of it. Returns the one that the hash belongs to. */
  #makeRoom(segment: Segment, hash: number): Segment {
    const slots = segment.mask + 1;
    if (slots < SLOTS_MAX) {
      const larger = emptySegment(slots * 2, segment.bits);
      this.#slots += slots;
      moveAll(segment.cells, () => larger);
      segment.cells = larger.cells;
      segment.mask = larger.mask;
      return segment;
    }
    if (segment.bits === this.#bits) this.#doubleDirectory();
    const bits = segment.bits + 1;
    const lower = emptySegment(SLOTS_MAX, bits);
    const upper = emptySegment(SLOTS_MAX, bits);
    this.#slots += SLOTS_MAX;
    moveAll(segment.cells, (other) => (bitOf(other, bits) === 0 ? lower : upper));
    this.#enter(lower, clearBit(hash, bits));
    this.#enter(upper, setBit(hash, bits));
    const own = bitOf(hash, bits) === 0 ? lower : upper;
    // So uneven a split takes as many keys of one hash as no sender makes by accident.
    return own.count * 4 < SLOTS_MAX * 3 ? own : this.#makeRoom(own, hash);
  }

  /** Writes a segment into its entries of the directory; `hash` is any hash that belongs to it. */
  #enter(segment: Segment, hash: number): void {
    const entries = 2 ** (this.#bits - segment.bits);
    const first = (hash >>> (32 - this.#bits)) & ~(entries - 1);
    this.#directory.fill(segment, first, first + entries);
  }

  #doubleDirectory(): void {
    assert(this.#bits < BITS_MAX, 'T4: a directory of that size is a mistake');
    this.#directory = this.#directory.flatMap((segment) => [segment, segment]);
    this.#bits += 1;
  }

  /** Joins a segment with its neighbour as long as both are small. Returns how often it did. */
  #mergeUp(segment: Segment, hash: number): number {
    const { bits } = segment;
    if (bits === 0) return 0;
    const isLower = bitOf(hash, bits) === 0;
    const other = this.#segmentOf(isLower ? setBit(hash, bits) : clearBit(hash, bits));
    if (other.bits !== bits || other.count >= MERGE_BELOW) return 0;
    const joined = emptySegment(SLOTS_MAX, bits - 1);
    moveAll(segment.cells, () => joined);
    moveAll(other.cells, () => joined);
    this.#slots -= SLOTS_MAX;
    this.#enter(joined, hash);
    return joined.count < MERGE_BELOW ? 1 + this.#mergeUp(joined, hash) : 1;
  }
}

/** Where in the range of hashes the segment behind this one begins. */
function behind({ bits }: Segment, from: number): number {
  const range = WHOLE_RANGE / 2 ** bits;
  return (Math.floor(from / range) + 1) * range;
}

function emptySegment(slots: number, bits: number): Segment {
  return { cells: new Int32Array(slots * FIELDS), mask: slots - 1, bits, count: 0 };
}

/** Where the tree is, or the free slot where it would be; `STAMP` tells which. */
function findIn({ cells, mask }: Segment, hash: number, keyLow: number, keyHigh: number): number {
  let slot = hash & mask;
  for (;;) {
    const at = slot * FIELDS;
    if (cells[at + STAMP] === 0) return at;
    if (cells[at + KEY_LOW] === keyLow && cells[at + KEY_HIGH] === keyHigh) return at;
    slot = (slot + 1) & mask;
  }
}

/** Frees a slot and moves up what would not be found any more (T2). */
function removeAt(cells: Int32Array, mask: number, slot: number): void {
  let free = slot;
  let next = slot;
  for (;;) {
    next = (next + 1) & mask;
    const at = next * FIELDS;
    if (cells[at + STAMP] === 0) break;
    const home = hashOf(cells[at + KEY_LOW] as number, cells[at + KEY_HIGH] as number) & mask;
    // It may go to the free slot when that lies between its home and where it is.
    if (((next - home) & mask) < ((next - free) & mask)) continue;
    copySlot(cells, at, cells, free * FIELDS);
    free = next;
  }
  cells[free * FIELDS + STAMP] = 0;
}

function copySlot(from: Int32Array, at: number, into: Int32Array, to: number): void {
  into[to + KEY_LOW] = from[at + KEY_LOW] as number;
  into[to + KEY_HIGH] = from[at + KEY_HIGH] as number;
  into[to + XOR_LOW] = from[at + XOR_LOW] as number;
  into[to + XOR_HIGH] = from[at + XOR_HIGH] as number;
  into[to + STAMP] = from[at + STAMP] as number;
}

function moveAll(from: Int32Array, segmentFor: (hash: number) => Segment): void {
  for (let at = 0; at < from.length; at += FIELDS) {
    if (from[at + STAMP] === 0) continue;
    const keyLow = from[at + KEY_LOW] as number;
    const keyHigh = from[at + KEY_HIGH] as number;
    const hash = hashOf(keyLow, keyHigh);
    const segment = segmentFor(hash);
    copySlot(from, at, segment.cells, findIn(segment, hash, keyLow, keyHigh));
    segment.count += 1;
  }
}

/**
 * Spreads both halves over all 32 bits, so that neither ascending numbers nor equal halves end up
 * together. The last steps are those of MurmurHash3 by Austin Appleby (public domain).
 */
function hashOf(keyLow: number, keyHigh: number): number {
  let hash = keyLow ^ Math.imul(keyHigh ^ (keyHigh >>> 15), 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** The last of the upper `bits` bits. */
function bitOf(hash: number, bits: number): number {
  return (hash >>> (32 - bits)) & 1;
}

function setBit(hash: number, bits: number): number {
  return hash | (1 << (32 - bits));
}

function clearBit(hash: number, bits: number): number {
  return hash & ~(1 << (32 - bits));
}

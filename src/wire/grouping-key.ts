import { malformed } from './malformed.ts';
import { BIGINT_EXTENSION, SIMPLE_ARRAY_DEPTH_MAX } from './values.ts';

/*
  The hash of a grouping key, taken from the bytes of its value (encoding: values.ts).

  K1. Equal keys hash equally, however they are encoded: a number as an integer, a float32 or a
      float64; -0 as 0; one NaN; a length in more bytes than it needs.
  K2. Keys are the values with one encoding (V2 in values.ts): numbers, strings, booleans, bigints,
      bytes, null, and arrays of these. A number and a bigint, and a string and bytes, are different
      keys. Other values are NOT_A_KEY.
  K3. The hash is the same in every version: keyed state is found again by it.
*/

/** Returned for a value that cannot be a key; no hash has this value. */
export const NOT_A_KEY: number = 2 ** 32;

/** What kind of key the bytes are; the start of its hash. */
const NUMBER = 1;
const TEXT = 2;
const BOOLEAN = 3;
const BIGINT = 4;
const BINARY = 5;
const NULL = 6;
const ARRAY = 7;

/** Hashes one value to a signed 32-bit number, or NOT_A_KEY. Throws PACKET_MALFORMED. */
export function hashGroupingKey(bytes: Uint8Array, start: number, end: number): number {
  const token = start < end ? (bytes[start] as number) : 0;
  // The commonest key, without the walk.
  if (token >= 0xa0 && token < 0xc0 && end - start - 1 === (token & 0x1f)) {
    return hashBytes(TEXT, bytes, start + 1, end);
  }
  walk.begin(bytes, start, end);
  const hash = walk.hashValue(0);
  if (hash !== NOT_A_KEY && walk.at !== end) throw malformed('bytes are left over behind a value');
  return hash;
}

class KeyWalk {
  at = 0;
  #bytes: Uint8Array = new Uint8Array(0);
  #end = 0;

  begin(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = bytes;
    this.at = start;
    this.#end = end;
  }

  hashValue(depth: number): number {
    const token = this.#uint(1);
    if (token < 0x80) return hashNumber(token);
    if (token >= 0xe0) return hashNumber(token - 0x100);
    if (token >= 0x90 && token < 0xa0) return this.#hashArray(token & 0x0f, depth);
    if (token >= 0xa0 && token < 0xc0) return this.#hashRun(TEXT, token & 0x1f);
    switch (token) {
      case 0xc0:
        return mix(NULL, 0);
      case 0xc2:
      case 0xc3:
        return mix(BOOLEAN, token & 1);
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#hashRun(BINARY, this.#uint(1 << (token - 0xc4)));
      case 0xc7:
      case 0xc8:
      case 0xc9:
        return this.#hashExtension(this.#uint(1 << (token - 0xc7)));
      case 0xca:
      case 0xcb:
        return hashNumber(this.#float(token));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return hashNumber(this.#uint(1 << (token - 0xcc)));
      case 0xcf:
      case 0xd3:
        return this.#hashRun(BIGINT, 8);
      case 0xd0:
        return hashNumber((this.#uint(1) << 24) >> 24);
      case 0xd1:
        return hashNumber((this.#uint(2) << 16) >> 16);
      case 0xd2:
        return hashNumber(this.#uint(4) | 0);
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return this.#hashExtension(1 << (token - 0xd4));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#hashRun(TEXT, this.#uint(1 << (token - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#hashArray(this.#uint(token === 0xdc ? 2 : 4), depth);
      default:
        return NOT_A_KEY;
    }
  }

  #hashArray(count: number, depth: number): number {
    if (depth === SIMPLE_ARRAY_DEPTH_MAX) return NOT_A_KEY;
    let hash = mix(ARRAY, count);
    for (let index = 0; index < count; index += 1) {
      const element = this.hashValue(depth + 1);
      if (element === NOT_A_KEY) return NOT_A_KEY;
      hash = mix(hash, element);
    }
    return hash;
  }

  #hashExtension(length: number): number {
    if (this.#uint(1) !== BIGINT_EXTENSION) return NOT_A_KEY;
    return this.#hashRun(BIGINT, length);
  }

  #hashRun(kind: number, length: number): number {
    const start = this.#take(length);
    return hashBytes(kind, this.#bytes, start, this.at);
  }

  #float(token: number): number {
    const start = this.#take(token === 0xca ? 4 : 8);
    for (let at = start; at < this.at; at += 1) {
      float.setUint8(at - start, this.#bytes[at] as number);
    }
    return token === 0xca ? float.getFloat32(0) : float.getFloat64(0);
  }

  /** `length` bytes, highest first. */
  #uint(length: number): number {
    const start = this.#take(length);
    let value = 0;
    for (let at = start; at < this.at; at += 1) value = (value << 8) | (this.#bytes[at] as number);
    return value >>> 0;
  }

  #take(length: number): number {
    const start = this.at;
    if (length > this.#end - start) throw malformed('a value ends too early');
    this.at = start + length;
    return start;
  }
}

const walk = new KeyWalk();
const float = new DataView(new ArrayBuffer(8));

/** By the bits of the float64, so that 1 and 1.0 are one key. */
function hashNumber(value: number): number {
  if (Number.isNaN(value)) return mix(mix(NUMBER, 0x7ff8_0000), 0);
  float.setFloat64(0, value + 0); // -0 + 0 is 0.
  return mix(mix(NUMBER, float.getInt32(0)), float.getInt32(4));
}

/** MurmurHash3 for 32 bits, by Austin Appleby (public domain), with the kind as its seed. */
function hashBytes(kind: number, bytes: Uint8Array, start: number, end: number): number {
  let hash = kind;
  let at = start;
  for (; end - at >= 4; at += 4) {
    const block =
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24);
    hash = addBlock(hash, block);
  }
  let tail = 0;
  for (let index = end - 1; index >= at; index -= 1) tail = (tail << 8) | (bytes[index] as number);
  return finish(hash ^ scramble(tail), end - start);
}

function mix(before: number, next: number): number {
  return finish(addBlock(before, next), 4);
}

function addBlock(hash: number, block: number): number {
  const mixed = hash ^ scramble(block);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe654_6b64) | 0;
}

function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e_2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b87_3593);
}

function finish(hash: number, length: number): number {
  let mixed = hash ^ length;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return mixed ^ (mixed >>> 16);
}

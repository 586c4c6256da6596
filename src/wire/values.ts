import { writeUtf8 } from './native-text.ts';
import { packRichValue } from './rich-values.ts';

/*
  The values of a tuple, each in MessagePack.

  V1. A value comes back exactly as it was sent, or encodeValue refuses it with
      VALUE_NOT_SERIALIZABLE. The exceptions are about what is around the data: a Buffer comes back
      as a Uint8Array, an object without a prototype as an ordinary one, a getter as its value, an
      array without properties besides its elements, and what `Object.keys` does not list is left
      out. docs/values.md says so to users.
  V2. A string, a number, a bigint, a boolean, null, bytes, and an array of these have one encoding
      each:

        string   0xa0 + length | 0xd9 length | 0xda length(2) | 0xdb length(4), then UTF-8
        integer  -32 to 63 in one byte | 0xcc u8 | 0xcd u16 | 0xce u32 | 0xd0 i8 | 0xd1 i16
                 | 0xd2 i32
        number   0xcb and 8 bytes, highest first: fractions, integers beyond 32 bits, -0, one NaN
        bigint   0xd3 i64 | 0xcf u64 | 0xc7 length 0x42, then two's complement; the length in
                 two or four bytes with 0xc8 or 0xc9
        boolean  0xc2 false | 0xc3 true             null  0xc0
        bytes    0xc4 length | 0xc5 length(2) | 0xc6 length(4), then the bytes
        array    0x90 + count | 0xdc count(2) | 0xdd count(4), then its elements

      Lengths are big-endian, and all take the shortest form. 64 to 127 take two bytes because
      single bytes from 0x40 on name records in the values of rich-values.ts, which reads arrays
      back.
  V3. All other values are packed by rich-values.ts.
*/

/** Returned by the encoders of this file for what only rich-values.ts can write. */
const NOT_SIMPLE = -2;

/** Strings up to here are written character by character: a call into the runtime costs more. */
const SHORT_TEXT_MAX = 40;
/**
 * Deeper arrays are left to rich-values.ts, which also knows cycles; they cannot be grouping keys.
 */
export const SIMPLE_ARRAY_DEPTH_MAX = 16;
/** msgpackr's number for bigints beyond 64 bits. */
export const BIGINT_EXTENSION = 0x42;

const eightBytes = new DataView(new ArrayBuffer(8));

/**
 * Writes one value; returns the offset behind it, or -1 when it does not fit in front of `limit`.
 *
 * @throws EngineError with code VALUE_NOT_SERIALIZABLE, whose text names the place inside the
 * value.
 */
export function encodeValue(
  value: unknown,
  into: Uint8Array,
  at: number,
  limit: number = into.length,
): number {
  const end = encodeSimple(value, into, at, limit, 0);
  if (end >= 0) return end;
  // An array may have run out of room in front of the element that only rich-values.ts can write,
  // and the whole may be shorter there.
  if (end !== NOT_SIMPLE && isGroupingKey(value)) return end;
  const packed = packRichValue(value);
  if (packed.length > limit - at) return -1;
  into.set(packed, at);
  return at + packed.length;
}

function encodeSimple(
  value: unknown,
  into: Uint8Array,
  at: number,
  limit: number,
  depth: number,
): number {
  switch (typeof value) {
    case 'string':
      return encodeText(value, into, at, limit);
    case 'number':
      return encodeNumber(value, into, at, limit);
    case 'bigint':
      return encodeBigint(value, into, at, limit);
    case 'boolean':
      return encodeByte(value ? 0xc3 : 0xc2, into, at, limit);
    case 'object':
      if (value === null) return encodeByte(0xc0, into, at, limit);
      if (isBytes(value)) return encodeBytes(value, into, at, limit);
      if (isPlainArray(value)) return encodeArray(value, into, at, limit, depth);
      return NOT_SIMPLE;
    case 'undefined':
    case 'function':
    case 'symbol':
    default:
      return NOT_SIMPLE;
  }
}

/** Whether a value has one encoding (V2), so that its bytes can be a grouping key. */
export function isGroupingKey(value: unknown, depth = 0): boolean {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return true;
    case 'object':
      if (value === null || isBytes(value)) return true;
      if (!isPlainArray(value) || depth === SIMPLE_ARRAY_DEPTH_MAX) return false;
      // Not `every`, which passes over holes.
      for (const element of value) {
        if (!isGroupingKey(element, depth + 1)) return false;
      }
      return true;
    case 'undefined':
    case 'function':
    case 'symbol':
    default:
      return false;
  }
}

function isBytes(value: object): value is Uint8Array {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Uint8Array.prototype || prototype === Buffer.prototype;
}

function isPlainArray(value: object): value is readonly unknown[] {
  return Array.isArray(value) && Object.getPrototypeOf(value) === Array.prototype;
}

function encodeByte(byte: number, into: Uint8Array, at: number, limit: number): number {
  if (at >= limit) return -1;
  into[at] = byte;
  return at + 1;
}

function encodeText(text: string, into: Uint8Array, at: number, limit: number): number {
  const { length } = text;
  if (length > SHORT_TEXT_MAX) return encodeLongText(text, into, at, limit);
  const start = at + (length < 32 ? 1 : 2);
  if (length > limit - start) return -1;
  for (let index = 0; index < length; index += 1) {
    const code = text.charCodeAt(index);
    if (code >= 0x80) return encodeLongText(text, into, at, limit);
    into[start + index] = code;
  }
  writeTextHead(length, into, at);
  return start + length;
}

/** Any text: its bytes are counted first. */
function encodeLongText(text: string, into: Uint8Array, at: number, limit: number): number {
  if (!text.isWellFormed()) return NOT_SIMPLE; // Refused there, with its place.
  const byteLength = Buffer.byteLength(text);
  const headBytes = byteLength < 32 ? 1 : byteLength < 0x100 ? 2 : byteLength < 0x1_0000 ? 3 : 5;
  if (headBytes + byteLength > limit - at) return -1;
  const start = writeTextHead(byteLength, into, at);
  return start + writeUtf8(into, start, limit, text);
}

function writeTextHead(byteLength: number, into: Uint8Array, at: number): number {
  if (byteLength >= 32) return writeLength(0xd9, byteLength, into, at);
  into[at] = 0xa0 | byteLength;
  return at + 1;
}

/** The tokens for lengths of one, two and four bytes follow each other. */
function writeLength(token8: number, length: number, into: Uint8Array, at: number): number {
  if (length < 0x100) {
    into[at] = token8;
    into[at + 1] = length;
    return at + 2;
  }
  if (length < 0x1_0000) return writeUint16(token8 + 1, length, into, at);
  return writeUint32(token8 + 2, length, into, at);
}

function writeUint16(token: number, value: number, into: Uint8Array, at: number): number {
  into[at] = token;
  into[at + 1] = value >>> 8;
  into[at + 2] = value;
  return at + 3;
}

function writeUint32(token: number, value: number, into: Uint8Array, at: number): number {
  into[at] = token;
  into[at + 1] = value >>> 24;
  into[at + 2] = value >>> 16;
  into[at + 3] = value >>> 8;
  into[at + 4] = value;
  return at + 5;
}

function encodeNumber(value: number, into: Uint8Array, at: number, limit: number): number {
  if ((value | 0) === value && !Object.is(value, -0)) {
    if (value >= -32 && value < 0x40) return encodeByte(value, into, at, limit);
    if (limit - at < 5) return encodeTightly(value, into, at, limit);
    return value < 0 ? writeNegative(value, into, at) : writePositive(value, into, at);
  }
  if (value >>> 0 === value && value !== 0) {
    return limit - at < 5 ? -1 : writeUint32(0xce, value, into, at);
  }
  if (limit - at < 9) return -1;
  // Every NaN becomes the one that a literal gives.
  eightBytes.setFloat64(0, Number.isNaN(value) ? Number.NaN : value);
  return writeEightBytes(0xcb, into, at);
}

function writePositive(value: number, into: Uint8Array, at: number): number {
  if (value < 0x100) {
    into[at] = 0xcc;
    into[at + 1] = value;
    return at + 2;
  }
  if (value < 0x1_0000) return writeUint16(0xcd, value, into, at);
  return writeUint32(0xce, value, into, at);
}

function writeNegative(value: number, into: Uint8Array, at: number): number {
  if (value >= -0x80) {
    into[at] = 0xd0;
    into[at + 1] = value;
    return at + 2;
  }
  if (value >= -0x8000) return writeUint16(0xd1, value, into, at);
  return writeUint32(0xd2, value, into, at);
}

/** Signed where it fits in 64 bits, as msgpackr does it. */
function encodeBigint(value: bigint, into: Uint8Array, at: number, limit: number): number {
  const isSigned = BigInt.asIntN(64, value) === value;
  if (!isSigned && BigInt.asUintN(64, value) !== value) {
    return encodeLargeBigint(value, into, at, limit);
  }
  if (limit - at < 9) return -1;
  eightBytes.setBigInt64(0, value);
  return writeEightBytes(isSigned ? 0xd3 : 0xcf, into, at);
}

/** In msgpackr's extension for them: two's complement, highest byte first. */
function encodeLargeBigint(value: bigint, into: Uint8Array, at: number, limit: number): number {
  const flip = value < 0n ? 0xff : 0;
  const digits = (value < 0n ? ~value : value).toString(16);
  const length = (digits.length >>> 1) + 1; // At least one bit is left for the sign.
  const headBytes = length < 0x100 ? 3 : length < 0x1_0000 ? 4 : 6;
  if (headBytes + length > limit - at) return -1;
  const start = writeLength(0xc7, length, into, at);
  into[start] = BIGINT_EXTENSION;
  const magnitude = digits.padStart(length * 2, '0');
  for (let index = 0; index < length; index += 1) {
    const byte = Number.parseInt(magnitude.slice(index * 2, index * 2 + 2), 16);
    into[start + 1 + index] = byte ^ flip;
  }
  return start + 1 + length;
}

/** Writes a token and what stands in `eightBytes`. */
function writeEightBytes(token: number, into: Uint8Array, at: number): number {
  into[at] = token;
  for (let index = 0; index < 8; index += 1) into[at + 1 + index] = eightBytes.getUint8(index);
  return at + 9;
}

const scratch = new Uint8Array(5);

/** Near the limit an integer is written aside first, to see whether it fits. */
function encodeTightly(value: number, into: Uint8Array, at: number, limit: number): number {
  const length = value < 0 ? writeNegative(value, scratch, 0) : writePositive(value, scratch, 0);
  if (length > limit - at) return -1;
  for (let index = 0; index < length; index += 1) into[at + index] = scratch[index] as number;
  return at + length;
}

function encodeBytes(bytes: Uint8Array, into: Uint8Array, at: number, limit: number): number {
  const { length } = bytes;
  const headBytes = length < 0x100 ? 2 : length < 0x1_0000 ? 3 : 5;
  if (headBytes + length > limit - at) return -1;
  const start = writeLength(0xc4, length, into, at);
  into.set(bytes, start);
  return start + length;
}

function encodeArray(
  values: readonly unknown[],
  into: Uint8Array,
  at: number,
  limit: number,
  depth: number,
): number {
  const { length } = values;
  if (depth === SIMPLE_ARRAY_DEPTH_MAX) return NOT_SIMPLE;
  const headBytes = length < 16 ? 1 : length < 0x1_0000 ? 3 : 5;
  if (headBytes + length > limit - at) return -1; // Each element takes a byte or more.
  if (headBytes === 1) into[at] = 0x90 | length;
  else if (headBytes === 3) writeUint16(0xdc, length, into, at);
  else writeUint32(0xdd, length, into, at);
  let to = at + headBytes;
  for (let index = 0; index < length; index += 1) {
    to = encodeSimple(values[index], into, to, limit, depth + 1);
    if (to < 0) return to;
  }
  return to;
}

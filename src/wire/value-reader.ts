import { malformed } from './malformed.ts';
import { latin1Text, utf8Text } from './native-text.ts';
import { unpackRichValue } from './rich-values.ts';

/**
 * Strings up to here are cut out of the text of a whole stretch of bytes: one call into the runtime
 * for hundreds of them. V8 copies substrings of up to 12 characters; a longer one would keep the
 * whole text in memory for as long as it lives.
 */
const SHORT_TEXT_MAX = 12;
/** The stretch of bytes that is turned into text at a time. */
const WINDOW_BYTES = 16 * 1024;

const eightBytes = new DataView(new ArrayBuffer(8));

/**
 * Reads the values of many tuples from one run of bytes, a tuple set as a rule (encoding:
 * values.ts). What it returns shares no memory with the bytes.
 */
export class ValueReader {
  #bytes: Uint8Array = new Uint8Array(0);
  #end = 0;
  /** One character a byte, for the bytes from #windowStart to #windowEnd. */
  #window = '';
  #windowStart = 0;
  #windowEnd = 0;

  begin(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = bytes;
    this.#end = end;
    this.#windowStart = start;
    this.#windowEnd = start;
  }

  /** The value in a range of the bytes. Throws PACKET_MALFORMED. */
  read(start: number, end: number): unknown {
    const bytes = this.#bytes;
    const token = start < end ? (bytes[start] as number) : -1;
    if (token >= 0xa0 && token < 0xc0) {
      requireLength(token & 0x1f, start + 1, end);
      return end - start - 1 <= SHORT_TEXT_MAX
        ? this.#readShortText(start + 1, end)
        : utf8Text(bytes, start + 1, end);
    }
    return readOther(token, bytes, start, end);
  }

  #readShortText(start: number, end: number): string {
    const bytes = this.#bytes;
    for (let at = start; at < end; at += 1) {
      if ((bytes[at] as number) >= 0x80) return utf8Text(bytes, start, end);
    }
    if (start < this.#windowStart || end > this.#windowEnd) this.#moveWindow(start);
    const offset = start - this.#windowStart;
    return this.#window.substring(offset, offset + end - start);
  }

  #moveWindow(start: number): void {
    this.#windowStart = start;
    this.#windowEnd = Math.min(start + WINDOW_BYTES, this.#end);
    this.#window = latin1Text(this.#bytes, this.#windowStart, this.#windowEnd);
  }
}

/** One value in a range of bytes. Throws PACKET_MALFORMED. */
export function decodeValue(bytes: Uint8Array, start: number, end: number): unknown {
  const token = start < end ? (bytes[start] as number) : -1;
  return readOther(token, bytes, start, end);
}

function readOther(token: number, bytes: Uint8Array, start: number, end: number): unknown {
  if (token < 0x80) return token < 0 ? emptyValue() : readInteger(token, start + 1, end);
  if (token >= 0xe0) return readInteger(token - 0x100, start + 1, end);
  if (token >= 0xa0 && token < 0xc0) {
    requireLength(token & 0x1f, start + 1, end);
    return utf8Text(bytes, start + 1, end);
  }
  switch (token) {
    case 0xc0:
      requireLength(0, start + 1, end);
      return null;
    case 0xc2:
    case 0xc3:
      requireLength(0, start + 1, end);
      return token === 0xc3;
    case 0xc4:
    case 0xc5:
    case 0xc6:
      return copyOf(bytes, readLength(token - 0xc4, bytes, start, end), end);
    case 0xcb:
      requireLength(8, start + 1, end);
      readEightBytes(bytes, start + 1);
      return eightBytes.getFloat64(0);
    case 0xcc:
    case 0xcd:
    case 0xce:
      requireLength(1 << (token - 0xcc), start + 1, end);
      return readUint(bytes, start + 1, end);
    case 0xcf:
    case 0xd3:
      requireLength(8, start + 1, end);
      readEightBytes(bytes, start + 1);
      return token === 0xd3 ? eightBytes.getBigInt64(0) : eightBytes.getBigUint64(0);
    case 0xd0:
      requireLength(1, start + 1, end);
      return (readUint(bytes, start + 1, end) << 24) >> 24;
    case 0xd1:
      requireLength(2, start + 1, end);
      return (readUint(bytes, start + 1, end) << 16) >> 16;
    case 0xd2:
      requireLength(4, start + 1, end);
      return readUint(bytes, start + 1, end) | 0;
    case 0xd9:
    case 0xda:
    case 0xdb:
      return utf8Text(bytes, readLength(token - 0xd9, bytes, start, end), end);
    default:
      return unpackRichValue(copyOf(bytes, start, end));
  }
}

function emptyValue(): never {
  throw malformed('a value has no bytes');
}

function readInteger(value: number, at: number, end: number): number {
  requireLength(0, at, end);
  return value;
}

/** A value fills its range: nothing is missing and nothing is left over. */
function requireLength(length: number, at: number, end: number): void {
  if (end - at !== length) {
    throw malformed(`a value of ${length} bytes stands in a field with room for ${end - at}`);
  }
}

/** Reads the length behind a token, of 2^sizeLog bytes; returns where the content starts. */
function readLength(sizeLog: number, bytes: Uint8Array, start: number, end: number): number {
  const at = start + 1 + (1 << sizeLog);
  requireLength(readUint(bytes, start + 1, at), at, end);
  return at;
}

/** One, two or four bytes, highest first. */
function readUint(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at += 1) value = (value << 8) | (bytes[at] as number);
  return value >>> 0;
}

function readEightBytes(bytes: Uint8Array, at: number): void {
  for (let index = 0; index < 8; index += 1)
    eightBytes.setUint8(index, bytes[at + index] as number);
}

/** Always a plain Uint8Array, in memory of its own. */
function copyOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const copy = new Uint8Array(end - start);
  copy.set(bytes.subarray(start, end));
  return copy;
}

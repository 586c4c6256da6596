import { malformed } from './malformed.ts';

/*
  Protobuf's own encoding, for the hand-made codecs of the data plane.

  field  => tag value       tag = field number << 3 | wire type, as varint
  varint => 7 bits a byte, lowest first, high bit set on all but the last
  wire types: 0 varint · 1 eight bytes · 2 length and bytes · 5 four bytes ·
              3 and 4 begin and end of a group

  All lengths and offsets stay below 2^31: a packet is some megabytes at most.
*/

export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
const GROUP_START = 3;
const GROUP_END = 4;
const FIXED32 = 5;

/** As deep as the generated code goes. */
const GROUP_DEPTH_MAX = 100;

/** Bytes of a varint below 2^32. */
export const VARINT32_BYTES_MAX = 5;
/** Bytes of a varint below 2^53, the largest whole numbers that are exact. */
export const VARINT53_BYTES_MAX = 8;

export function tagOf(field: number, wireType: number): number {
  return field * 8 + wireType;
}

/** Bytes of the varint of a number from 0 to 2^53 - 1. */
export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes += 1;
  return bytes;
}

/** Writes a number from 0 to 2^53 - 1; returns the offset behind it. The caller has made room. */
export function writeVarint(into: Uint8Array, at: number, value: number): number {
  let rest = value;
  let to = at;
  while (rest >= 0x80) {
    into[to] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
    to += 1;
  }
  into[to] = rest;
  return to + 1;
}

/** Half of a 64-bit number: four bytes, lowest first, as an int32. */
export function halfAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}

/** Writes half of a 64-bit number. */
export function writeHalf(bytes: Uint8Array, at: number, half: number): void {
  bytes[at] = half;
  bytes[at + 1] = half >>> 8;
  bytes[at + 2] = half >>> 16;
  bytes[at + 3] = half >>> 24;
}

/**
 * Reads fields one after the other and never leaves its range: everything throws PACKET_MALFORMED
 * instead. Use it again with `begin`.
 */
export class ProtobufCursor {
  bytes: Uint8Array = new Uint8Array(0);
  at = 0;
  end = 0;

  begin(bytes: Uint8Array, start: number, end: number): void {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  readTag(): number {
    const { at } = this;
    if (at < this.end) {
      // Fields below 16 have tags of one byte.
      const byte = this.bytes[at] as number;
      if (byte >= 8 && byte < 0x80) {
        this.at = at + 1;
        return byte;
      }
    }
    const tag = this.readWhole();
    if (tag < 8 || tag > 0xffff_ffff) throw malformed(`protobuf tag ${tag} is impossible`);
    return tag;
  }

  /** A length, checked against what is left: the bytes are there. */
  readLength(): number {
    const length = this.readWhole();
    if (length > this.end - this.at) {
      throw malformed(`protobuf field of ${length} bytes where ${this.end - this.at} are left`);
    }
    return length;
  }

  /** A varint from 0 to 2^53 - 1. */
  readWhole(): number {
    const first = this.#readByte();
    if (first < 0x80) return first;
    let value = first & 0x7f;
    let unit = 0x80;
    for (let index = 1; index < VARINT53_BYTES_MAX; index += 1) {
      const byte = this.#readByte();
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
      unit *= 0x80;
    }
    throw malformed('protobuf number is out of range');
  }

  /** An int32: the low 32 bits of a varint, ten bytes long when the number is negative. */
  readInt32(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#readByte();
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw malformed('protobuf varint of more than ten bytes');
  }

  readBool(): boolean {
    let isTrue = false;
    for (let index = 0; index < 10; index += 1) {
      const byte = this.#readByte();
      if ((byte & 0x7f) !== 0) isTrue = true;
      if (byte < 0x80) return isTrue;
    }
    throw malformed('protobuf varint of more than ten bytes');
  }

  /** The next four bytes, lowest first; half of a 64-bit number. */
  readHalf(): number {
    const { bytes, at } = this;
    this.#advance(4);
    return (
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)
    );
  }

  /**
   * Passes over the value of an unknown field. Fields from 1 to `known` are those of the message:
   * one that comes here has a wire type that is not its own.
   */
  skipUnknown(tag: number, known: number): void {
    if (tag < tagOf(known + 1, VARINT)) {
      throw malformed(`protobuf field ${tag >>> 3} has the wire type ${tag & 7}`);
    }
    this.#skip(tag, 0);
  }

  #skip(tag: number, depth: number): void {
    switch (tag & 7) {
      case VARINT:
        this.readInt32();
        return;
      case FIXED64:
        this.#advance(8);
        return;
      case BYTES:
        this.#advance(this.readLength());
        return;
      case GROUP_START:
        this.#skipGroup(tag - GROUP_START + GROUP_END, depth + 1);
        return;
      case FIXED32:
        this.#advance(4);
        return;
      default:
        throw malformed(`protobuf wire type ${tag & 7} where a field begins`);
    }
  }

  #skipGroup(endTag: number, depth: number): void {
    if (depth > GROUP_DEPTH_MAX) throw malformed('protobuf groups are nested too deeply');
    for (let tag = this.readTag(); tag !== endTag; tag = this.readTag()) this.#skip(tag, depth);
  }

  #readByte(): number {
    const { at } = this;
    if (at >= this.end) throw malformed('protobuf message ends inside a field');
    this.at = at + 1;
    return this.bytes[at] as number;
  }

  #advance(count: number): void {
    if (count > this.end - this.at) throw malformed('protobuf message ends inside a field');
    this.at += count;
  }
}

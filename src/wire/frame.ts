/*
  Packets on a byte stream, as every Heron process frames them. A stream is nothing but packets, one
  after the other.

  Packet => length  nameLength  name  requestId  payloadLength  payload
    length         uint32 big-endian; bytes after this field: 4 + T + 32 + 4 + P
    nameLength     uint32 big-endian, T
    name           T bytes, full proto name of the message in printable ASCII
    requestId      32 bytes; all zero = one-way, else a request or the response that repeats its id
    payloadLength  uint32 big-endian, P
    payload        P bytes

  Who owns the memory of a received packet:
  F1. The Packet object belongs to its assembler and is filled anew by each `next()`.
  F2. `bytes` holds only until the receiver returns: it is the memory into which the socket reads
      (bench/connection.ts says what that is worth). Who keeps something copies it; `payload` and
      `requestId` are copies.
  F3. Nothing is allocated on the word of a length that has not been checked against the limit.
*/

import { type EngineError, environmentError } from '../base/errors.ts';
import { assert } from '../base/assert.ts';

export const REQUEST_ID_BYTES = 32;
/** The request id of a one-way message. */
export const NO_REQUEST_ID: Uint8Array = new Uint8Array(REQUEST_ID_BYTES);
/** Longer names are taken for foreign bytes; Heron's longest has 55 characters. */
export const TYPE_NAME_BYTES_MAX = 255;

const LENGTH_BYTES = 4;
/** `nameLength`, `requestId` and `payloadLength`: what `length` counts besides name and payload. */
const FIXED_BYTES = LENGTH_BYTES + REQUEST_ID_BYTES + LENGTH_BYTES;
/** `length` and `nameLength`: enough to judge a packet before any memory is set aside for it. */
const JUDGED_BYTES = LENGTH_BYTES + LENGTH_BYTES;

/** A power of two, well above the number of types on one connection. */
const NAME_SLOTS = 64;
/** A full batch of tuples and what stands around it, rounded up. */
const SPANNING_KEPT_BYTES = 64 * 1024;
const NOTHING: Buffer = Buffer.alloc(0);

/** Bytes in front of the payload. */
export function packetHeaderBytes(typeName: string): number {
  return LENGTH_BYTES + FIXED_BYTES + typeName.length;
}

/** Writes everything that stands in front of the payload; returns where the payload starts. */
export function writePacketHeader(
  into: Uint8Array,
  at: number,
  typeName: string,
  requestId: Uint8Array,
  payloadBytes: number,
): number {
  const nameBytes = typeName.length;
  assert(nameBytes <= TYPE_NAME_BYTES_MAX, 'a type name is too long for a packet');
  assert(requestId.length === REQUEST_ID_BYTES, 'a request id has 32 bytes');
  let to = writeUint32(into, at, FIXED_BYTES + nameBytes + payloadBytes);
  to = writeUint32(into, to, nameBytes);
  for (let index = 0; index < nameBytes; index += 1) into[to + index] = typeName.charCodeAt(index);
  to += nameBytes;
  into.set(requestId, to);
  return writeUint32(into, to + REQUEST_ID_BYTES, payloadBytes);
}

/** A whole packet in fresh memory; for control messages, where one copy does not matter. */
export function encodePacket(
  typeName: string,
  requestId: Uint8Array,
  payload: Uint8Array,
): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(packetHeaderBytes(typeName) + payload.length);
  bytes.set(payload, writePacketHeader(bytes, 0, typeName, requestId, payload.length));
  return bytes;
}

/** One received packet; F1 and F2 say how long it may be used. */
export class Packet {
  typeName = '';
  /** True for requests and responses, false for one-way messages. */
  hasRequestId = false;
  bytes: Buffer = NOTHING;
  requestIdStart = 0;
  payloadStart = 0;
  payloadEnd = 0;

  /** A copy made anew by each call. */
  get requestId(): Uint8Array {
    return copyOf(this.bytes, this.requestIdStart, this.requestIdStart + REQUEST_ID_BYTES);
  }

  /** A copy made anew by each call; not for the data path. */
  get payload(): Uint8Array {
    return copyOf(this.bytes, this.payloadStart, this.payloadEnd);
  }
}

/** Copies a part of bytes that do not last; `slice` of a Buffer would be a view. */
export function copyOf(bytes: Uint8Array, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(end - start);
  copy.set(bytes.subarray(start, end));
  return copy;
}

/**
 * Cuts the chunks of one stream into packets. A packet inside one chunk is a view of the chunk; one
 * that spans chunks is filled into a single buffer, which serves the next one again unless it is
 * large.
 *
 *   chunk:   [ end of packet 1 | packet 2 | packet 3 | start of packet 4 ]
 *              → #spanning        views of the chunk    → #head, then #spanning
 */
export class FrameAssembler {
  readonly #limitBytes: number;
  readonly #packet = new Packet();
  readonly #typeNames = new TypeNameCache();
  /** The first bytes of a packet of which less than JUDGED_BYTES have come. */
  readonly #head = Buffer.alloc(JUDGED_BYTES);
  #headBytes = 0;
  #spanning = NOTHING;
  #spanningBytes = 0;
  /** Memory for spanning packets up to SPANNING_KEPT_BYTES; made by the first one. */
  #kept = NOTHING;
  #chunk = NOTHING;
  #at = 0;

  /** `limitBytes` is the largest `length` that is accepted, as in Heron's settings. */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Bytes of a packet that has begun and is not whole yet. */
  get pendingBytes(): number {
    return this.#headBytes + this.#spanningBytes + (this.#chunk.length - this.#at);
  }

  /**
   * Hands over the next chunk; every packet of the one before must have been taken. The chunk must
   * stay as it is until all of its packets have been taken, or `keepRest` was called.
   */
  feed(chunk: Buffer): void {
    assert(this.#at === this.#chunk.length, 'a chunk was fed before the last one was used up');
    this.#chunk = chunk;
    this.#at = 0;
  }

  /** The chunk's memory is needed elsewhere before its packets have been taken. */
  keepRest(): void {
    this.#chunk = Buffer.from(this.#chunk.subarray(this.#at));
    this.#at = 0;
  }

  /**
   * The next whole packet, or undefined when more bytes are needed.
   *
   * @throws EngineError PACKET_TOO_LARGE or PACKET_MALFORMED; the stream is of no use from then on.
   */
  next(): Packet | undefined {
    if (this.#spanning === NOTHING) {
      const available = this.#chunk.length - this.#at;
      if (this.#headBytes === 0 && available >= JUDGED_BYTES) {
        const packetBytes = this.#judge(this.#chunk, this.#at);
        if (available >= packetBytes) {
          const start = this.#at;
          this.#at += packetBytes;
          return this.#open(this.#chunk, start, this.#at);
        }
        this.#spanning = this.#roomFor(packetBytes);
      } else if (!this.#fillHead()) {
        return undefined;
      }
    }
    return this.#fillSpanning();
  }

  /** True when enough has come to know the packet's size, and its buffer has been set aside. */
  #fillHead(): boolean {
    const take = Math.min(JUDGED_BYTES - this.#headBytes, this.#chunk.length - this.#at);
    this.#chunk.copy(this.#head, this.#headBytes, this.#at, this.#at + take);
    this.#at += take;
    this.#headBytes += take;
    if (this.#headBytes < JUDGED_BYTES) {
      this.#dropUsedChunk();
      return false;
    }
    this.#spanning = this.#roomFor(this.#judge(this.#head, 0));
    this.#head.copy(this.#spanning);
    this.#spanningBytes = JUDGED_BYTES;
    this.#headBytes = 0;
    return true;
  }

  #fillSpanning(): Packet | undefined {
    const bytes = this.#spanning;
    const take = Math.min(bytes.length - this.#spanningBytes, this.#chunk.length - this.#at);
    this.#chunk.copy(bytes, this.#spanningBytes, this.#at, this.#at + take);
    this.#at += take;
    this.#spanningBytes += take;
    if (this.#spanningBytes < bytes.length) {
      this.#dropUsedChunk();
      return undefined;
    }
    this.#spanning = NOTHING;
    this.#spanningBytes = 0;
    return this.#open(bytes, 0, bytes.length);
  }

  #roomFor(packetBytes: number): Buffer {
    if (packetBytes > SPANNING_KEPT_BYTES) return Buffer.allocUnsafeSlow(packetBytes);
    if (this.#kept === NOTHING) this.#kept = Buffer.allocUnsafeSlow(SPANNING_KEPT_BYTES);
    return this.#kept.subarray(0, packetBytes);
  }

  /** An idle connection must not hold 64 KiB of bytes that it has already read. */
  #dropUsedChunk(): void {
    this.#chunk = NOTHING;
    this.#at = 0;
  }

  /** Checks both lengths at the start of a packet and returns the size of the whole packet. */
  #judge(bytes: Buffer, at: number): number {
    const length = bytes.readUInt32BE(at);
    const nameBytes = bytes.readUInt32BE(at + LENGTH_BYTES);
    if (length > this.#limitBytes) {
      throw environmentError(
        'PACKET_TOO_LARGE',
        `a packet of ${length} bytes${quoted(bytes, at)} is over the limit of ${this.#limitBytes}`,
      );
    }
    if (length < FIXED_BYTES || nameBytes > length - FIXED_BYTES) {
      throw malformed(`length ${length} and name length ${nameBytes} contradict each other`);
    }
    if (nameBytes === 0 || nameBytes > TYPE_NAME_BYTES_MAX) {
      throw malformed(`a type name of ${nameBytes} bytes`);
    }
    return LENGTH_BYTES + length;
  }

  #open(bytes: Buffer, start: number, end: number): Packet {
    const packet = this.#packet;
    const nameStart = start + JUDGED_BYTES;
    const idStart = nameStart + bytes.readUInt32BE(start + LENGTH_BYTES);
    const payloadStart = idStart + REQUEST_ID_BYTES + LENGTH_BYTES;
    const payloadBytes = bytes.readUInt32BE(payloadStart - LENGTH_BYTES);
    if (payloadStart + payloadBytes !== end) {
      throw malformed(`payload length ${payloadBytes} where ${end - payloadStart} bytes are left`);
    }
    packet.typeName = this.#typeNames.intern(bytes, nameStart, idStart);
    packet.hasRequestId = !isZero(bytes, idStart);
    packet.bytes = bytes;
    packet.requestIdStart = idStart;
    packet.payloadStart = payloadStart;
    packet.payloadEnd = end;
    return packet;
  }
}

/**
 * Turns the bytes of a type name into a string without making one for each packet. A direct-mapped
 * table: bounded whatever a peer sends, and the handful of names on one connection rarely collide.
 */
class TypeNameCache {
  readonly #bytes = Array.from({ length: NAME_SLOTS }, () => NOTHING);
  readonly #names = Array.from({ length: NAME_SLOTS }, () => '');

  intern(bytes: Buffer, start: number, end: number): string {
    // Names share their prefixes, so the length and two letters near the end tell them apart.
    const last = bytes[end - 1] ?? 0;
    const middle = bytes[(start + end) >> 1] ?? 0;
    const slot = (end - start + last * 7 + middle * 31) & (NAME_SLOTS - 1);
    const known = this.#bytes[slot] ?? NOTHING;
    if (isEqual(known, bytes, start, end)) return this.#names[slot] ?? '';
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte < 0x21 || byte > 0x7e) throw malformed('a type name with unprintable bytes');
    }
    const name = bytes.toString('latin1', start, end);
    this.#bytes[slot] = Buffer.from(name, 'latin1');
    this.#names[slot] = name;
    return name;
  }
}

function isEqual(known: Buffer, bytes: Buffer, start: number, end: number): boolean {
  if (known.length !== end - start) return false;
  for (let index = 0; index < known.length; index += 1) {
    if (known[index] !== bytes[start + index]) return false;
  }
  return true;
}

function isZero(bytes: Buffer, idStart: number): boolean {
  for (let at = idStart; at < idStart + REQUEST_ID_BYTES; at += 1) {
    if (bytes[at] !== 0) return false;
  }
  return true;
}

/** The length field as text when it is text: shows at a glance that a peer speaks HTTP. */
function quoted(bytes: Buffer, at: number): string {
  const text = bytes.toString('latin1', at, at + LENGTH_BYTES);
  return /^[\x20-\x7e]+$/.test(text) ? ` ("${text}" as text)` : '';
}

function malformed(what: string): EngineError {
  return environmentError('PACKET_MALFORMED', `bytes that are no packet: ${what}`);
}

function writeUint32(into: Uint8Array, at: number, value: number): number {
  into[at] = value >>> 24;
  into[at + 1] = value >>> 16;
  into[at + 2] = value >>> 8;
  into[at + 3] = value;
  return at + LENGTH_BYTES;
}

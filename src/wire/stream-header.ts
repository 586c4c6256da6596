import { type ComponentName, componentName, type StreamName, streamName } from '../base/ids.ts';
import { malformed } from './malformed.ts';
import { latin1Text, utf8Text } from './native-text.ts';
import { BYTES, ProtobufCursor, tagOf, varintBytes, writeVarint } from './protobuf-cursor.ts';

const STREAM_TAG = tagOf(1, BYTES);
const ID_TAG = tagOf(1, BYTES);
const COMPONENT_TAG = tagOf(2, BYTES);

/** A topology has some dozens; the limit keeps a broken peer from filling memory with names. */
const STREAMS_MAX = 4096;

/** One stream, and the bytes that begin every set of its tuples. */
export interface StreamHeader {
  /** The producer. */
  readonly component: ComponentName;
  readonly stream: StreamName;
  /** The field `stream` of HeronDataTupleSet, tag and length included. */
  readonly bytes: Uint8Array;
}

/**
 * All streams that one owner has met.
 *
 * H1. One stream has one StreamHeader: compare by identity, use it as the key of a Map.
 */
export class StreamHeaders {
  /**
   * By the bytes of a StreamId, one character a byte. Odd encodings of one stream share a header.
   */
  readonly #byBytes = new Map<string, StreamHeader>();
  readonly #cursor = new ProtobufCursor();
  /** Sets of one stream mostly follow each other. */
  #last: StreamHeader | undefined;

  of(component: ComponentName, stream: StreamName): StreamHeader {
    const bytes = encodeHeader(component, stream);
    const key = latin1Text(bytes, bodyStart(bytes), bytes.length);
    const known = this.#byBytes.get(key);
    if (known !== undefined) return known;
    const header = { component, stream, bytes };
    this.#remember(key, header);
    return header;
  }

  /** The header of the StreamId in a range of bytes. */
  read(bytes: Uint8Array, start: number, end: number): StreamHeader {
    const last = this.#last;
    if (last !== undefined && endsWith(last.bytes, bytes, start, end)) return last;
    const key = latin1Text(bytes, start, end);
    let header = this.#byBytes.get(key);
    if (header === undefined) {
      header = this.#parse(bytes, start, end);
      this.#remember(key, header);
    }
    this.#last = header;
    return header;
  }

  #remember(key: string, header: StreamHeader): void {
    if (this.#byBytes.has(key)) return;
    if (this.#byBytes.size === STREAMS_MAX) throw malformed(`more than ${STREAMS_MAX} streams`);
    this.#byBytes.set(key, header);
  }

  #parse(bytes: Uint8Array, start: number, end: number): StreamHeader {
    const cursor = this.#cursor;
    cursor.begin(bytes, start, end);
    let stream: string | undefined;
    let component: string | undefined;
    while (cursor.at < end) {
      const tag = cursor.readTag();
      if (tag === ID_TAG) stream = readText(cursor);
      else if (tag === COMPONENT_TAG) component = readText(cursor);
      else cursor.skipUnknown(tag, 2);
    }
    if (stream === undefined || component === undefined) {
      throw malformed('StreamId lacks its id or its component_name');
    }
    return this.of(componentName(component), streamName(stream));
  }
}

function readText(cursor: ProtobufCursor): string {
  const length = cursor.readLength();
  const start = cursor.at;
  cursor.at += length;
  return utf8Text(cursor.bytes, start, cursor.at);
}

/*
  stream => 0x0a length  0x0a length id  0x12 length component_name
*/
function encodeHeader(component: ComponentName, stream: StreamName): Uint8Array {
  const id = Buffer.from(stream);
  const producer = Buffer.from(component);
  const bodyBytes =
    1 + varintBytes(id.length) + id.length + 1 + varintBytes(producer.length) + producer.length;
  const bytes = new Uint8Array(1 + varintBytes(bodyBytes) + bodyBytes);
  let at = writeVarint(bytes, 0, STREAM_TAG);
  at = writeVarint(bytes, at, bodyBytes);
  at = writeVarint(bytes, at, ID_TAG);
  at = writeVarint(bytes, at, id.length);
  bytes.set(id, at);
  at = writeVarint(bytes, at + id.length, COMPONENT_TAG);
  at = writeVarint(bytes, at, producer.length);
  bytes.set(producer, at);
  return bytes;
}

/** Where the StreamId begins in a header's bytes: behind tag and length. */
function bodyStart(header: Uint8Array): number {
  let at = 1;
  while ((header[at] as number) >= 0x80) at += 1;
  return at + 1;
}

/** True when a header's StreamId is the same bytes as the range. */
function endsWith(header: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  const offset = bodyStart(header);
  if (header.length - offset !== end - start) return false;
  for (let index = start; index < end; index += 1) {
    if (header[offset + index - start] !== bytes[index]) return false;
  }
  return true;
}

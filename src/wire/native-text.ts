/*
  Text between strings and ranges of bytes, without a view for each range. Node's Buffers have these
  methods since their beginning; its type declarations leave them out. They work on any Uint8Array,
  also on shared memory, which TextDecoder refuses.
*/

interface NativeText {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
  utf8Slice(this: Uint8Array, start: number, end: number): string;
  utf8Write(this: Uint8Array, text: string, at: number, bytesMax: number): number;
}

const native = Buffer.prototype as unknown as NativeText;

/** One character a byte: exact for ASCII. */
export function latin1Text(bytes: Uint8Array, start: number, end: number): string {
  return native.latin1Slice.call(bytes, start, end);
}

/** What is not UTF-8 becomes U+FFFD. */
export function utf8Text(bytes: Uint8Array, start: number, end: number): string {
  return native.utf8Slice.call(bytes, start, end);
}

/** Writes whole characters as long as there is room; returns how many bytes they took. */
export function writeUtf8(into: Uint8Array, at: number, limit: number, text: string): number {
  return native.utf8Write.call(into, text, at, limit - at);
}

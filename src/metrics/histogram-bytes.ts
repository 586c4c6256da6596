import { Histogram } from './histogram.ts';

/*
  A histogram in a message:

    Histogram => version sum max (gap count)*
      version   one byte, 1
      sum, max  doubles, little-endian
      gap       how many buckets are passed over since the last one; varint, as in protobuf
      count     of that bucket; varint
*/

const VERSION = 1;
const HEAD_BYTES = 17;
/** Seven bits each hold any count up to 2^53. */
const VARINT_BYTES_MAX = 8;

export function encodeHistogram(histogram: Histogram): Uint8Array {
  const head = Buffer.alloc(HEAD_BYTES);
  head[0] = VERSION;
  head.writeDoubleLE(histogram.sum, 1);
  head.writeDoubleLE(histogram.max, 9);
  const bytes: number[] = [];
  let next = 0;
  histogram.forEach((index, count) => {
    pushVarint(bytes, index - next);
    pushVarint(bytes, count);
    next = index + 1;
  });
  return Buffer.concat([head, Buffer.from(bytes)]);
}

/** Undefined for bytes that are no histogram, or one of a later version. */
export function decodeHistogram(bytes: Uint8Array): Histogram | undefined {
  if (bytes.length < HEAD_BYTES || bytes[0] !== VERSION) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const sum = view.getFloat64(1, true);
  const max = view.getFloat64(9, true);
  const numbers = readVarints(bytes.subarray(HEAD_BYTES));
  if (numbers === undefined || numbers.length % 2 !== 0) return undefined;
  const buckets: [number, number][] = [];
  let index = -1;
  for (let at = 0; at < numbers.length; at += 2) {
    index += 1 + (numbers[at] ?? 0);
    buckets.push([index, numbers[at + 1] ?? 0]);
  }
  return Histogram.of(buckets, { sum, max });
}

function pushVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
}

function readVarints(bytes: Uint8Array): number[] | undefined {
  const numbers: number[] = [];
  let value = 0;
  let scale = 1;
  let length = 0;
  for (const byte of bytes) {
    value += (byte & 0x7f) * scale;
    length += 1;
    if (byte < 0x80) {
      numbers.push(value);
      [value, scale, length] = [0, 1, 0];
    } else if (length >= VARINT_BYTES_MAX) return undefined;
    else scale *= 0x80;
  }
  return length === 0 ? numbers : undefined;
}

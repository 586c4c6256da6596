/*
  A value as Java's own serialization writes it (Java Object Serialization Specification, ch. 6), as
  far as it is a text, a number or a truth value. Topologies of Heron's Java API hold some of their
  settings so.

    ac ed 00 05                          magic, version
    74 length(2) utf8                    a String
    73 72 length(2) name, …, fields      an object: of java.lang.Integer and its likes the one field
                                         `value` is the last of the bytes
*/

const MAGIC = 0xaced0005;
const STRING = 0x74;
const OBJECT = 0x73;
const CLASS = 0x72;

/** By class: how many bytes the field has, and what they mean. */
const SCALARS: ReadonlyMap<string, (end: Buffer) => string | number> = new Map([
  ['java.lang.Integer', (end: Buffer) => end.readInt32BE(end.length - 4)],
  ['java.lang.Short', (end: Buffer) => end.readInt16BE(end.length - 2)],
  ['java.lang.Byte', (end: Buffer) => end.readInt8(end.length - 1)],
  ['java.lang.Long', (end: Buffer) => safeNumber(end.readBigInt64BE(end.length - 8))],
  ['java.lang.Double', (end: Buffer) => finite(end.readDoubleBE(end.length - 8))],
  ['java.lang.Float', (end: Buffer) => finite(end.readFloatBE(end.length - 4))],
  ['java.lang.Boolean', (end: Buffer) => String(end.readInt8(end.length - 1) !== 0)],
]);

/** Undefined for anything else, and for what is damaged. */
export function javaScalar(bytes: Uint8Array): string | number | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (buffer.readUInt32BE(0) !== MAGIC) return undefined;
    if (buffer[4] === STRING) return textAt(buffer, 5);
    if (buffer[4] !== OBJECT || buffer[5] !== CLASS) return undefined;
    const name = textAt(buffer, 6);
    return SCALARS.get(name)?.(buffer);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // It ends too soon.
    throw error;
  }
}

function textAt(buffer: Buffer, at: number): string {
  const length = buffer.readUInt16BE(at);
  if (at + 2 + length > buffer.length) throw new RangeError('the text is cut off');
  return buffer.toString('utf8', at + 2, at + 2 + length);
}

function safeNumber(value: bigint): string | number {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** JSON has no other numbers. */
function finite(value: number): string | number {
  return Number.isFinite(value) ? value : String(value);
}

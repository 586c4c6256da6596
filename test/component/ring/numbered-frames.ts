import { NO_ROOM, type RingReader, type RingWriter } from '../../../src/ring/byte-ring.ts';

const PREFIX_BYTES = 8;

/** Frames whose size and content follow from their number, so that a reader can check each byte. */
export function frameBytes(number: number, bytesMax: number): number {
  return PREFIX_BYTES + (mix(number) % (bytesMax - PREFIX_BYTES + 1));
}

/** Writes frame `number`, beginning late in its reservation; false when there is no room. */
export function writeFrame(writer: RingWriter, number: number, bytesMax: number): boolean {
  const at = writer.reserve(bytesMax);
  if (at === NO_ROOM) return false;
  const bytes = frameBytes(number, bytesMax);
  const start = at + (number % (bytesMax - bytes + 1));
  const { bytes: memory } = writer;
  memory.writeInt32LE(number, start);
  let sum = number;
  for (let index = start + PREFIX_BYTES; index < start + bytes; index += 1) {
    const value = (number + index - start) & 0xff;
    memory[index] = value;
    sum = (Math.imul(sum, 31) + value) | 0;
  }
  memory.writeInt32LE(sum, start + 4);
  writer.commit(start, start + bytes);
  return true;
}

/** The number of the reader's current frame. Throws when any of its bytes is wrong. */
export function checkFrame(reader: RingReader, bytesMax: number): number {
  const { bytes: memory, start, end } = reader;
  const number = memory.readInt32LE(start);
  let sum = number;
  for (let index = start + PREFIX_BYTES; index < end; index += 1) {
    sum = (Math.imul(sum, 31) + (memory[index] ?? 0)) | 0;
  }
  if (end - start !== frameBytes(number, bytesMax) || sum !== memory.readInt32LE(start + 4)) {
    throw new Error(`frame ${number} is damaged`);
  }
  return number;
}

function mix(number: number): number {
  const mixed = Math.imul(number ^ (number >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 12)) >>> 0;
}

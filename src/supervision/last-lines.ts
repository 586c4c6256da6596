import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { LineTail } from './line-tail.ts';

/** Room for twenty long lines. */
const TAIL_BYTES = 64 * 1024;

/** The last lines of a file, oldest first; none when it cannot be read. */
export function lastLinesOf(file: string, linesMax: number): readonly string[] {
  const tail = new LineTail(linesMax);
  try {
    tail.append(lastBytesOf(file));
  } catch {
    return []; // No output is an answer: the process may never have come so far.
  }
  return tail.lines();
}

function lastBytesOf(file: string): Uint8Array {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const count = readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
    return bytes.subarray(0, count);
  } finally {
    closeSync(descriptor);
  }
}

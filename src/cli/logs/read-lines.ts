import type { LogFile } from './log-files.ts';
import { type LogLine, parseLogLine } from './log-line.ts';

/** Longer ones are no lines of ours; they are cut, not kept in memory. */
const LINE_BYTES_MAX = 1024 * 1024;
const NEW_LINE = 0x0a;

/** Up to where a file has been read; moves on with every line that is taken. */
export interface ReadPosition {
  offset: number;
  /** Of the last line with a time of its own, or when it was first looked at. */
  lastTimeMs: number | undefined;
}

export interface ReadOptions {
  /** Nobody writes there any more: a last line without an end is whole. */
  readonly isFinal: boolean;
  /** By the wall clock; what has no time of its own is not later than this. */
  readonly nowMs: number;
}

/**
 * The whole lines of a file from a position up to what it held when it was listed. A line counts as
 * taken, and the position moves past it, when the next one is asked for. A last line that is not
 * complete stays unread, unless the file is one that nobody writes any more.
 *
 * @throws FileGone when the file went away under the reader.
 */
export async function* readLines(
  file: LogFile,
  position: ReadPosition,
  { isFinal, nowMs }: ReadOptions,
): AsyncGenerator<LogLine, void> {
  const lineOf = (bytes: Buffer): LogLine => {
    const writtenAtMs = Math.min(file.writtenAtMs, nowMs);
    const otherwise = file.kind === 'output' ? writtenAtMs : position.lastTimeMs;
    const line = parseLogLine(bytes.toString('utf8'), file, otherwise ?? writtenAtMs);
    position.lastTimeMs = line.timeMs;
    return line;
  };
  let rest: Buffer = Buffer.alloc(0);
  for (let at = position.offset; at < file.bytes; ) {
    const read = await file.read(at, Math.min(file.chunkBytes, file.bytes - at));
    if (read === undefined) throw new FileGone(file);
    if (read.length === 0) break;
    at += read.length;
    const bytes = rest.length === 0 ? bufferOf(read) : Buffer.concat([rest, read]);
    let start = 0;
    for (let end = bytes.indexOf(NEW_LINE); end >= 0; end = bytes.indexOf(NEW_LINE, start)) {
      if (end > start) yield lineOf(bytes.subarray(start, end));
      position.offset += end + 1 - start;
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length < LINE_BYTES_MAX) continue;
    const cut = wholeCharacters(rest);
    yield lineOf(rest.subarray(0, cut));
    position.offset += cut;
    rest = rest.subarray(cut);
  }
  if (!isFinal || rest.length === 0) return;
  yield lineOf(rest);
  position.offset += rest.length;
}

/** A file was rotated away before it was read to its end. */
export class FileGone extends Error {
  readonly file: LogFile;

  constructor(file: LogFile) {
    super(`${file.key} was rotated away before it was read`);
    this.file = file;
  }
}

export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** How many of the bytes are whole characters of UTF-8. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= 4 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

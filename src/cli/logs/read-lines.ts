import { open } from 'node:fs/promises';
import { type LogLine, parseLogLine } from './log-line.ts';
import type { LogFile } from './log-files.ts';

const CHUNK_BYTES = 256 * 1024;
/** Longer ones are no lines of ours; they are cut, not kept in memory. */
const LINE_BYTES_MAX = 1024 * 1024;
const NEW_LINE = 0x0a;

/** Up to where a file has been read; moves on with every line that is taken. */
export interface ReadPosition {
  offset: number;
}

/**
 * The whole lines of a file from a position up to what it held when it was listed. A last line that
 * is not complete stays unread, unless the file is one that nobody writes any more.
 */
export async function* readLines(
  file: LogFile,
  position: ReadPosition,
  { isFinal }: { readonly isFinal: boolean },
): AsyncGenerator<LogLine, void> {
  if (file.bytes <= position.offset) return;
  await using handle = await open(file.path);
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let rest = Buffer.alloc(0);
  for (let at = position.offset; at < file.bytes; ) {
    const wanted = Math.min(CHUNK_BYTES, file.bytes - at);
    const { bytesRead } = await handle.read(chunk, 0, wanted, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    let start = 0;
    for (let end = bytes.indexOf(NEW_LINE); end >= 0; end = bytes.indexOf(NEW_LINE, start)) {
      position.offset += end + 1 - start;
      if (end > start) yield parseLogLine(bytes.toString('utf8', start, end), file);
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length < LINE_BYTES_MAX) continue;
    position.offset += rest.length;
    yield parseLogLine(rest.toString('utf8'), file);
    rest = Buffer.alloc(0);
  }
  if (!isFinal || rest.length === 0) return;
  position.offset += rest.length;
  yield parseLogLine(rest.toString('utf8'), file);
}

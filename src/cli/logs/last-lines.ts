import type { LogFile } from './log-files.ts';
import { type LogLine, parseLogLine } from './log-line.ts';
import { bufferOf, FileGone } from './read-lines.ts';

/** As for readers that go forwards. */
const LINE_BYTES_MAX = 1024 * 1024;
const NEW_LINE = 0x0a;

export interface LastLinesOptions {
  /** How many are wanted at most. */
  readonly count: number;
  readonly isWanted: (line: LogLine) => boolean;
  /** Nothing before this moment is wanted; files are in the order of time. */
  readonly sinceMs: number | undefined;
}

/**
 * The last wanted lines of what a file holds up to `end`, oldest first. Reads backwards and no
 * further than it has to.
 */
export async function lastLines(
  file: LogFile,
  end: number,
  { count, isWanted, sinceMs }: LastLinesOptions,
): Promise<{ readonly lines: readonly LogLine[]; readonly isEnough: boolean }> {
  const newestFirst: LogLine[] = [];
  let rest = Buffer.alloc(0);
  for (let at = end; at > 0; ) {
    const length = Math.min(file.chunkBytes, at);
    at -= length;
    const read = await file.read(at, length);
    if (read === undefined) throw new FileGone(file);
    const bytes = Buffer.concat([bufferOf(read), rest]);
    // Up to the first end of a line it may be the rest of one that begins further ahead.
    const isCut = bytes.length >= LINE_BYTES_MAX;
    const first = at === 0 || isCut ? 0 : bytes.indexOf(NEW_LINE) + 1;
    if (first === 0 && at > 0 && !isCut) {
      rest = bytes;
      continue;
    }
    const lines = linesIn(bytes.subarray(first), file);
    for (const line of lines.toReversed()) {
      if (isWanted(line)) newestFirst.push(line);
      if (newestFirst.length >= count) return { lines: newestFirst.toReversed(), isEnough: true };
    }
    const [oldest] = lines;
    const isOlder = sinceMs !== undefined && oldest !== undefined && oldest.timeMs < sinceMs;
    if (isOlder) return { lines: newestFirst.toReversed(), isEnough: true };
    rest = isCut ? Buffer.alloc(0) : Buffer.from(bytes.subarray(0, first));
  }
  return { lines: newestFirst.toReversed(), isEnough: false };
}

/** Where the last whole line of a file ends; a line that is longer than any of ours is cut. */
export async function endOfLines(file: LogFile): Promise<number> {
  for (let at = file.bytes; at > 0 && file.bytes - at < LINE_BYTES_MAX; ) {
    const length = Math.min(file.chunkBytes, at);
    at -= length;
    const read = await file.read(at, length);
    if (read === undefined) throw new FileGone(file);
    const last = bufferOf(read).lastIndexOf(NEW_LINE);
    if (last >= 0) return at + last + 1;
  }
  return 0;
}

function linesIn(bytes: Buffer, file: LogFile): readonly LogLine[] {
  const lines: LogLine[] = [];
  for (let start = 0; start < bytes.length; ) {
    const next = bytes.indexOf(NEW_LINE, start);
    const end = next < 0 ? bytes.length : next;
    if (end > start) lines.push(parseLogLine(bytes.toString('utf8', start, end), file));
    start = end + 1;
  }
  return lines;
}

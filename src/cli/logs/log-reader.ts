import { hasCode } from '../../base/errors.ts';
import { endOfLines, lastLines } from './last-lines.ts';
import { type LogFile, ROTATED_AWAY } from './log-files.ts';
import type { LogLine } from './log-line.ts';
import { mergeLines } from './merge-lines.ts';
import { FileGone, readLines, type ReadPosition } from './read-lines.ts';

/*
  Reads the log files of a topology, again and again.

  R1. Each line once, whatever is rotated or moved: files are known by what they are, not by their
      names.
  R2. In the order of time, also from look to look: what was written after the moment of a look, by
      its own time, waits for the next one, which is when lines of the same time from elsewhere
      are there. Lines of one time keep the order of files, lines of one file always theirs.
  R3. What cannot be read any more is counted, never passed over in silence.
*/

export interface LookOptions {
  /** Nobody writes there any more. */
  readonly isFinal: boolean;
  /** The moment before the files were listed, by the wall clock. */
  readonly nowMs: number;
}

export interface TailOptions extends LookOptions {
  readonly count: number;
  readonly isWanted: (line: LogLine) => boolean;
  readonly sinceMs: number | undefined;
}

/** A clock that is further ahead than this is wrong, and its lines are not waited for (R2). */
const AHEAD_MS_MAX = 2_000;
/** Files that rotate for days leave as many behind; those that are there are far fewer. */
const KNOWN_MAX = 10_000;

interface KnownFile extends ReadPosition {
  age: number;
}

export class LogReader {
  readonly #known = new Map<string, KnownFile>();
  readonly #gone = new Set<string>();

  /** The files of which something was lost, by key (R3). */
  get gone(): ReadonlySet<string> {
    return this.#gone;
  }

  /** What was written since the last look. */
  async *look(files: readonly LogFile[], options: LookOptions): AsyncGenerator<LogLine, void> {
    this.#forget(files);
    const sources = byKey(files).map((chain) => this.#chain(chain, options));
    yield* mergeLines(sources);
  }

  /** The last wanted lines of what there is; later looks go on behind it. */
  async *tail(files: readonly LogFile[], options: TailOptions): AsyncGenerator<LogLine, void> {
    const { count } = options;
    if (count === 0) {
      for (const file of files) await this.#skip(file, options);
      return;
    }
    const ends = await Promise.all(byKey(files).map((chain) => this.#endOf(chain, options)));
    const newest: LogLine[] = [];
    for await (const line of mergeLines(ends.map((lines) => oneByOne(lines)))) {
      newest.push(line);
      if (newest.length >= 2 * count) newest.splice(0, newest.length - count);
    }
    yield* newest.slice(-count);
  }

  /** A file and those that it was rotated out of, oldest first. */
  async *#chain(
    files: readonly LogFile[],
    { isFinal, nowMs }: LookOptions,
  ): AsyncGenerator<LogLine, void> {
    for (const file of files) {
      const options = { isFinal: isFinal || file.age > 0, nowMs };
      try {
        for await (const line of readLines(file, this.#positionIn(file), options)) {
          const aheadMs = line.timeMs - nowMs;
          if (!isFinal && aheadMs > 0 && aheadMs <= AHEAD_MS_MAX) return;
          yield line;
        }
      } catch (error) {
        if (this.#isLater(error)) return;
      }
    }
  }

  async #endOf(
    files: readonly LogFile[],
    { isFinal, ...options }: TailOptions,
  ): Promise<readonly LogLine[]> {
    const found: LogLine[] = [];
    let isEnough = false;
    for (const file of files.toReversed()) {
      const end = await this.#skip(file, { isFinal, nowMs: options.nowMs });
      if (isEnough || end === 0) continue;
      const count = options.count - found.length;
      try {
        const last = await lastLines(file, end, { ...options, count });
        found.unshift(...last.lines);
        ({ isEnough } = last);
      } catch (error) {
        if (this.#isLater(error)) break;
      }
    }
    return found;
  }

  /** Whether what could not be read may be read another time; else it is gone (R3). */
  #isLater(error: unknown): boolean {
    if (hasCode(error, 'CONNECTION_LOST')) return true;
    if (!(error instanceof FileGone)) throw error;
    this.#gone.add(error.file.key);
    return false;
  }

  /** Takes a file for read; up to where. */
  async #skip(file: LogFile, { isFinal }: LookOptions): Promise<number> {
    const position = this.#positionIn(file);
    const isWhole = isFinal || file.age > 0;
    position.offset = isWhole ? file.bytes : await endOfLines(file).catch(() => file.bytes);
    return position.offset;
  }

  #forget(listed: readonly LogFile[]): void {
    if (this.#known.size <= KNOWN_MAX) return;
    const there = new Set(listed.map(({ identity }) => identity));
    for (const identity of this.#known.keys()) {
      if (!there.has(identity)) this.#known.delete(identity);
    }
  }

  #positionIn({ identity, bytes, age }: LogFile): KnownFile {
    const known = this.#known.get(identity);
    // Smaller, or younger: it is another one, which was given the number of one that has gone.
    const isSame =
      known !== undefined &&
      known.offset <= bytes &&
      (known.age <= age || known.age === ROTATED_AWAY);
    const position = isSame ? known : { offset: 0, lastTimeMs: undefined, age };
    position.age = age;
    this.#known.set(identity, position);
    return position;
  }
}

async function* oneByOne(lines: readonly LogLine[]): AsyncGenerator<LogLine, void> {
  yield* lines;
}

function byKey(files: readonly LogFile[]): readonly (readonly LogFile[])[] {
  return [...Map.groupBy(files, ({ key }) => key).values()];
}

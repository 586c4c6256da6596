import { isUtf8 } from 'node:buffer';
import { userError } from '../base/errors.ts';
import { FilePosition, filePositionOf } from './file-position.ts';
import type { FilePositions } from './file-positions.ts';
import type { FileShare, SharedFile } from './file-share.ts';
import { LineReader } from './line-reader.ts';
import type { ReplayableSource, SourceAnswer } from './replayable-source.ts';
import type { OpenSourceFile, SourceFiles } from './source-files.ts';
import type { FieldDeclaration } from './streams.ts';

export type LineEncoding = 'utf8' | 'latin1';

/** By field name or in the declared order. */
export type LineValues = readonly unknown[] | Readonly<Record<string, unknown>>;

export interface LineSourceOptions {
  readonly share: FileShare;
  /** Absolute paths, those of all tasks. */
  readonly all: readonly string[];
  readonly files: SourceFiles;
  readonly positions: FilePositions;
  /** Undefined passes over the line. */
  readonly parse: (line: string, position: FilePosition) => LineValues | undefined;
  readonly encoding: LineEncoding;
  readonly badUtf8: 'dead-letter' | 'replace';
  readonly follow: boolean;
  readonly pollMs: number;
  readonly lineBytesMax: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly onWarning: (text: string) => void;
}

/** One stream, whatever its fields are. */
type LineStreams = { readonly default: FieldDeclaration };

type Answer = SourceAnswer<LineStreams, FilePosition>;

/** Lines of one file that were read without one of another in between. */
interface Stretch {
  readonly path: string;
  last: FilePosition;
}

type FoundLine = Pick<LineReader, 'bytes' | 'start' | 'end' | 'isCut'>;

/** So many lines that `parse` passes over are looked at in one call. */
const PASSED_OVER_MAX = 1_000;
const BYTE_ORDER_MARK = '\u{feff}';
/** What the platform puts in place of bytes that are not UTF-8. */
const REPLACEMENT = '\u{fffd}';

/**
 * The lines of some files as a source that can be read again.
 *
 * L1. Files are read one after the other; those that are followed in turns, a window each.
 * L2. A position is a line's place in its file. What is committed is the offset in each file, so
 *     that a file begins again where it was left, whichever task reads it then.
 * L3. A file that has become shorter than what was read of it is another file: an error, or, where
 *     files are followed, read from its start with a warning.
 * L4. Questions, changes of the share and hand-overs are worked off one after the other: no file is
 *     closed, or given up, while a read of it is under way.
 */
export class LineSource implements ReplayableSource<LineStreams, FilePosition> {
  readonly #options: LineSourceOptions;
  readonly #share: FileShare;
  /** The file that was read last. */
  #current: SharedFile | undefined;
  /** Files in a row in which there was nothing new. */
  #dry = 0;
  #restUntilMs = Number.NEGATIVE_INFINITY;
  #number = 0;
  /** Not committed yet, oldest first. */
  #stretches: Stretch[] = [];
  /** For lines that are read again. */
  #again: { readonly path: string; readonly file: OpenSourceFile } | undefined;

  /** The last of those of L4. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: LineSourceOptions) {
    this.#options = options;
    this.#share = options.share;
  }

  get isHandingOver(): boolean {
    return this.#share.isHandingOver;
  }

  async committed(): Promise<FilePosition | undefined> {
    await this.#share.open();
    const last = this.#share.files.findLast(({ offset }) => offset > 0);
    return last && new FilePosition(last.path, last.offset, last.offset, 0);
  }

  /** The offsets are known from `committed`; a file that is missing is known now. */
  async open(): Promise<void> {
    if (this.#options.follow) return;
    for (const file of this.#share.files) {
      const opened = await this.#options.files.open(file.path);
      try {
        await this.#check(file, opened);
      } finally {
        await opened.close();
      }
    }
  }

  /** Takes over files from other tasks, and gives up those that are read elsewhere from now on. */
  update(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#share.follow();
      for (const file of this.#share.files) if (file.state !== 'held') await closeReader(file);
      await this.#handOver();
    });
  }

  next(): Answer | Promise<Answer> {
    for (let passedOver = 0; passedOver < PASSED_OVER_MAX; passedOver += 1) {
      const file = this.#current;
      if (file?.reader === undefined || file.state !== 'held' || !file.reader.next()) {
        return this.#inTurn(() => this.#readOn());
      }
      const answer = this.#answer(file, file.reader);
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  async reread(given: FilePosition): Promise<Exclude<Answer, 'end'>> {
    const position = filePositionOf(given);
    if (position === undefined) return undefined;
    const length = position.end - position.offset;
    const bytes = Buffer.allocUnsafe(Math.max(0, length));
    const file = await this.#openAgain(position.file);
    if (file === undefined || !(await readWhole(file, bytes, position.offset))) return undefined;
    const isCut = length - lineEndBytes(bytes) > this.#options.lineBytesMax;
    const end = isCut ? this.#options.lineBytesMax : length - lineEndBytes(bytes);
    return this.#toMessage({ bytes, start: 0, end, isCut }, position);
  }

  async commit(position: FilePosition): Promise<void> {
    const offsets = new Map<string, number>();
    const left = [...this.#stretches];
    for (;;) {
      const stretch = left[0];
      if (stretch === undefined || !stretch.last.isUpTo(position)) break;
      offsets.set(stretch.path, stretch.last.end);
      left.shift();
    }
    offsets.set(position.file, position.end);
    await this.#share.check();
    for (const [path, offset] of offsets) await this.#options.positions.write(path, offset);
    // Only now: a commit that has failed is repeated with all of them.
    this.#stretches = this.#stretches.filter(({ last }) => !last.isUpTo(position));
    await this.#share.markDone((file) => this.#isCommitted(file));
    if (this.isHandingOver) await this.#inTurn(() => this.#handOver());
  }

  async close(): Promise<void> {
    for (const file of this.#share.files) await closeReader(file);
    await this.#again?.file.close();
    await this.#share.close();
  }

  /** Everything that was read of it is. */
  #isCommitted({ path }: SharedFile): boolean {
    return this.#stretches.every((stretch) => stretch.path !== path);
  }

  #handOver(): Promise<void> {
    return this.#share.handOver((file) => this.#isCommitted(file));
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => {}); // Whoever asked has the error.
    return result;
  }

  /** Reads until there is something to say. */
  async #readOn(): Promise<Answer> {
    for (;;) {
      await this.#share.claimWaiting();
      const file = this.#share.readable(this.#current);
      if (file === undefined) return this.#nothingToRead();
      this.#current = file;
      if (this.#options.follow && this.#options.now() < this.#restUntilMs) return undefined;
      const { reader } = file;
      if (reader === undefined && !(await this.#begin(file))) {
        if (!this.#turnTo(file)) return undefined;
        continue;
      }
      if (reader === undefined) continue;
      const hasMore = await reader.fill();
      if (hasMore) this.#dry = 0;
      if (!hasMore && this.#options.follow && (await this.#hasShrunk(file))) continue;
      if (reader.next() || (!hasMore && !this.#options.follow && reader.takeRest())) {
        const answer = this.#answer(file, reader);
        if (answer !== undefined) return answer;
        continue;
      }
      if (hasMore) continue;
      if (!this.#options.follow) await this.#finish(file);
      if (!this.#turnTo(file)) return undefined;
    }
  }

  async #nothingToRead(): Promise<Answer> {
    if (this.#options.follow) return undefined; // An update may bring something.
    return (await this.#share.hasEnded()) ? 'end' : undefined;
  }

  /** False when a file that is followed is not there yet. */
  async #begin(file: SharedFile): Promise<boolean> {
    const { files, follow, lineBytesMax } = this.#options;
    let opened: OpenSourceFile;
    try {
      opened = await files.open(file.path);
    } catch (error) {
      if (follow && (error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
    await this.#check(file, opened);
    file.reader = new LineReader(opened, file.offset, lineBytesMax);
    return true;
  }

  /** L3. */
  async #check(file: SharedFile, opened: OpenSourceFile): Promise<void> {
    const size = await opened.size();
    if (size >= file.offset) return;
    const text = `${file.path} has ${size} bytes, and ${file.offset} of it have been read before`;
    if (!this.#options.follow) throw userError('INVALID_ARGUMENT', `${text}: it is another file`);
    this.#options.onWarning(`${text}: it is read from its start`);
    file.offset = 0;
  }

  async #hasShrunk(file: SharedFile): Promise<boolean> {
    const opened = await this.#options.files.open(file.path).catch(() => undefined);
    if (opened === undefined) return false;
    const size = await opened.size();
    await opened.close();
    if (size >= file.offset) return false;
    await file.reader?.close();
    file.reader = undefined;
    return true; // The next look finds it shorter, and says so.
  }

  async #finish(file: SharedFile): Promise<void> {
    file.isDone = true;
    await closeReader(file);
    await this.#share.markDone((one) => this.#isCommitted(one));
  }

  /** False when there is nothing new in any of the files that are followed. */
  #turnTo(file: SharedFile): boolean {
    if (!this.#options.follow) return true; // It is done: the next one is the first that is not.
    this.#current = this.#share.behind(file);
    this.#dry += 1;
    if (this.#dry < this.#share.readableCount) return true;
    this.#dry = 0;
    this.#restUntilMs = this.#options.now() + this.#options.pollMs;
    return false;
  }

  /** Of the line that the reader has found; undefined when it is passed over. */
  #answer(file: SharedFile, reader: LineReader): Answer {
    this.#number += 1;
    const { offset, nextOffset } = reader;
    const position = new FilePosition(file.path, offset, nextOffset, this.#number);
    file.offset = nextOffset;
    const stretch = this.#stretches.at(-1);
    if (stretch?.path === file.path) stretch.last = position;
    else this.#stretches.push({ path: file.path, last: position });
    return this.#toMessage(reader, position);
  }

  #toMessage(line: FoundLine, position: FilePosition): Exclude<Answer, 'end'> {
    const { encoding, badUtf8, lineBytesMax, parse } = this.#options;
    const { bytes, start, end, isCut } = line;
    if (isCut) {
      const text = `the line has more than ${lineBytesMax} bytes, of which these are the first`;
      return unreadableRecord(line, position, userError('TUPLE_TOO_LARGE', text));
    }
    const decoded = bytes.toString(encoding, start, end);
    if (encoding === 'utf8' && badUtf8 === 'dead-letter' && decoded.includes(REPLACEMENT)) {
      // The character may be there by right.
      if (!isUtf8(bytes.subarray(start, end))) {
        const error = userError('INVALID_ARGUMENT', 'the line is not UTF-8');
        return unreadableRecord(line, position, error);
      }
    }
    const isMarked = position.offset === 0 && decoded.startsWith(BYTE_ORDER_MARK);
    try {
      const values = parse(isMarked ? decoded.slice(1) : decoded, position);
      return values === undefined ? undefined : { position, values };
    } catch (error) {
      return unreadableRecord(line, position, error);
    }
  }

  /** One file at a time is kept open for lines that are read again. */
  async #openAgain(path: string): Promise<OpenSourceFile | undefined> {
    if (this.#again?.path === path) return this.#again.file;
    if (!this.#options.all.includes(path)) return undefined;
    await this.#again?.file.close();
    this.#again = undefined;
    try {
      this.#again = { path, file: await this.#options.files.open(path) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    return this.#again.file;
  }
}

/** A copy: the window of the reader moves on. */
function unreadableRecord(
  { bytes, start, end }: FoundLine,
  position: FilePosition,
  error: unknown,
): Exclude<Answer, 'end'> {
  return { position, unreadable: new Uint8Array(bytes.subarray(start, end)), error };
}

async function closeReader(file: SharedFile): Promise<void> {
  const { reader } = file;
  file.reader = undefined;
  await reader?.close();
}

async function readWhole(file: OpenSourceFile, bytes: Uint8Array, at: number): Promise<boolean> {
  for (let done = 0; done < bytes.length; ) {
    const count = await file.read(bytes.subarray(done), at + done);
    if (count === 0) return false;
    done += count;
  }
  return true;
}

function lineEndBytes(bytes: Uint8Array): number {
  if (bytes.at(-1) !== 0x0a) return 0;
  return bytes.at(-2) === 0x0d ? 2 : 1;
}

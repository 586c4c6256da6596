import { Backoff } from '../../base/backoff.ts';
import { type Clock, delay } from '../../base/clock.ts';
import type { Files } from '../../base/files.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { readIfThere } from '../../base/optional-files.ts';
import type { Random } from '../../base/random.ts';
import { unless } from '../../base/system-codes.ts';
import {
  type DeadLetter,
  type DeadLetterFile,
  encodeDeadLetter,
  encodeRemoval,
  parseDeadLetterFile,
} from '../../model/dead-letter.ts';

export interface LetterFileOptions {
  readonly files: Files;
  readonly folder: string;
  /** In the folder. */
  readonly name: string;
  /** The setting `topology.dead.letters.file.bytes`. */
  readonly bytesMax: number;
  readonly clock: Clock;
  readonly random: Random;
  /** The first failure of a run of them. */
  readonly onFailure: (error: unknown) => void;
  /** So many letters have made room for others. */
  readonly onDropped: (letters: number) => void;
}

const PAUSE_MIN_MS = 100;
/** A disk that was full may have room at any time, and the spout waits for it in the end. */
const PAUSE_MAX_MS = 5_000;
/** What is left of the limit when letters have to make room: the next ones come without delay. */
const FILLED_MAX = 3 / 4;
const NEWLINE = Uint8Array.of(0x0a);

interface Line {
  readonly bytes: Uint8Array;
  readonly written: () => void;
}

/**
 * The file with the dead letters of a task (model/dead-letter.ts), which this process alone writes.
 *
 * F1. What `add` and `remove` have resolved for survives a loss of power: each batch of lines is
 *     followed by an fdatasync. Lines that come while one is written are the next batch.
 * F2. A write that fails is repeated, with growing pauses, until it succeeds or the file is closed;
 *     the promises of what is not written stay pending. A repeated write begins a new line (D3).
 * F3. The file never has more than `bytesMax`. Letters make room, those that were removed first and
 *     then the oldest; the file is replaced as a whole, by a rename. Its bytes are in memory then.
 * F4. Writes, replacements and reads are done one after the other, in the order of the calls.
 */
export class LetterFile {
  readonly #options: LetterFileOptions;
  readonly #path: string;
  readonly #backoff: Backoff;
  #lines: Line[] = [];
  /** The last of what is done one after the other (F4); never rejects. */
  #last: Promise<unknown> = Promise.resolve();
  /** A batch waits for its turn, and takes all lines that are there then. */
  #isBatchDue = false;
  /** Undefined while it is not known. */
  #bytes: number | undefined;
  /** What stands there may end in the middle of a line. */
  #mayBeTorn = true;
  #isFailing = false;
  #isClosed = false;

  constructor(options: LetterFileOptions) {
    this.#options = options;
    this.#path = `${options.folder}/${options.name}`;
    this.#backoff = new Backoff(options.random, PAUSE_MIN_MS, PAUSE_MAX_MS);
  }

  /** The size that a letter may have with its line's end, so that there is room for some. */
  get letterBytesMax(): number {
    return this.#options.bytesMax / 4;
  }

  /** There are letters, or at least a file for them. */
  async exists(): Promise<boolean> {
    return (await this.#size()) !== undefined;
  }

  /** Takes a letter of at most `letterBytesMax`; see F1. */
  add(letter: DeadLetter): Promise<void> {
    return this.#addLine(encodeDeadLetter(letter));
  }

  remove(ids: readonly string[]): Promise<void> {
    return this.#addLine(encodeRemoval(ids));
  }

  /** What stands there, with all that was added before. Rejects as a read of a file does. */
  read(): Promise<DeadLetterFile> {
    return this.#inTurn(async () => parseDeadLetterFile(await this.#readBytes()));
  }

  /** Takes letters out for good, with their bytes; returns how many. Rejects as a write does. */
  purge(isMeant: (letter: DeadLetter) => boolean): Promise<number> {
    return this.#inTurn(async () => {
      const { letters } = parseDeadLetterFile(await this.#readBytes());
      const left = letters.filter((letter) => !isMeant(letter));
      if (left.length < letters.length) await this.#replace(left);
      return letters.length - left.length;
    });
  }

  /** Resolves when what has been added is written, or cannot be for the time being. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (!this.#isFailing) await this.#last;
  }

  #addLine(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#lines.push({ bytes, written: resolve });
      if (this.#isBatchDue) return;
      this.#isBatchDue = true;
      void this.#inTurn(() => this.#writeLines());
    });
  }

  #inTurn<Result>(call: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(call);
    this.#last = result.catch(() => {}); // Whoever asked has the error.
    return result;
  }

  async #writeLines(): Promise<void> {
    this.#isBatchDue = false;
    const lines = this.#lines;
    this.#lines = [];
    for (let first = 0; first < lines.length; ) {
      // What fits into the file beside the letters that are there already (F3).
      let end = first;
      for (let bytes = 0; end < lines.length; end += 1) {
        bytes += lines[end]?.bytes.length ?? 0;
        if (end > first && bytes > this.letterBytesMax) break;
      }
      const batch = lines.slice(first, end);
      if (!(await this.#writeUntilDone(batch.map(({ bytes }) => bytes)))) return;
      for (const { written } of batch) written();
      first = end;
    }
  }

  /** False when the file was closed before (F2). */
  async #writeUntilDone(lines: readonly Uint8Array[]): Promise<boolean> {
    const { clock, onFailure } = this.#options;
    for (;;) {
      try {
        await this.#write(lines);
        this.#isFailing = false;
        this.#backoff.reset();
        return true;
      } catch (error) {
        this.#bytes = undefined;
        this.#mayBeTorn = true;
        if (!this.#isFailing) onFailure(error);
        this.#isFailing = true;
      }
      if (this.#isClosed) return false;
      await delay(clock, this.#backoff.next());
    }
  }

  async #write(lines: readonly Uint8Array[]): Promise<void> {
    const { files, folder, bytesMax } = this.#options;
    if (this.#bytes === undefined) {
      await makeFolder(files, folder);
      this.#bytes = (await this.#size()) ?? 0;
    }
    const torn = this.#mayBeTorn && this.#bytes > 0;
    const bytes = Buffer.concat(torn ? [NEWLINE, ...lines] : lines);
    if (this.#bytes + bytes.length > bytesMax) await this.#makeRoom(bytes.length);
    await files.append(this.#path, bytes, { durable: true });
    this.#bytes += bytes.length;
    this.#mayBeTorn = false;
  }

  async #makeRoom(wantedBytes: number): Promise<void> {
    const { bytesMax, onDropped } = this.#options;
    const { letters } = parseDeadLetterFile(await this.#readBytes());
    let left = letters.length;
    for (let bytes = wantedBytes; left > 0; left -= 1) {
      bytes += encodeDeadLetter(letters[left - 1] as DeadLetter).length;
      if (bytes > bytesMax * FILLED_MAX) break;
    }
    await this.#replace(letters.slice(left));
    if (left > 0) onDropped(left);
  }

  async #replace(letters: readonly DeadLetter[]): Promise<void> {
    const { files } = this.#options;
    const bytes = Buffer.concat(letters.map((letter) => encodeDeadLetter(letter)));
    const replacement = `${this.#path}.new`;
    await files.write(replacement, bytes, { durable: true });
    await files.rename(replacement, this.#path);
    this.#bytes = bytes.length;
    this.#mayBeTorn = false;
  }

  async #readBytes(): Promise<Uint8Array> {
    return (await readIfThere(this.#options.files, this.#path)) ?? new Uint8Array();
  }

  /** Undefined when there is no such file. */
  async #size(): Promise<number | undefined> {
    const facts = await unless(['ENOENT'], this.#options.files.facts(this.#path), undefined);
    return facts?.bytes;
  }
}

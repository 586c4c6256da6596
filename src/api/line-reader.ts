import type { OpenSourceFile } from './source-files.ts';

/*
  The lines of a file, with the place of each. The reader holds a window of the file:

      file      ───────────────────────────────────────────►
                     │consumed│ not yet looked at │
      window         0       #at               #end    bytes.length
                     ▲
                     #windowOffset

  A line ends with \n or \r\n, which are not part of it. Lines are found by the bytes alone: in
  UTF-8, as in Latin-1, no other character has a byte 0x0a.
*/

const WINDOW_BYTES = 256 * 1024;
const LF = 0x0a;
const CR = 0x0d;

/**
 * Finds lines in what it has read and reads more when it is told to (bench/replay.ts).
 *
 * L1. After `next` has returned true the line is in `bytes` from `start` to `end`, until the next
 *     call of any method.
 * L2. Of a line of more than `lineBytesMax` bytes only so many are kept; the rest is passed over,
 *     and `isCut` says so.
 */
export class LineReader {
  bytes: Buffer = Buffer.allocUnsafeSlow(WINDOW_BYTES);
  start = 0;
  end = 0;
  /** Where the line begins in the file, and where the one behind it does. */
  offset = 0;
  nextOffset = 0;
  isCut = false;
  readonly #file: OpenSourceFile;
  readonly #lineBytesMax: number;
  #windowOffset: number;
  #at = 0;
  #end = 0;
  /** From where on there may be a line's end that has not been looked for. */
  #searched = 0;
  /** The beginning of a line that is too long, the rest of which is being passed over. */
  #cut: { readonly bytes: Uint8Array; readonly offset: number } | undefined;

  /** Begins at an offset of the file, which must be that of a line. */
  constructor(file: OpenSourceFile, offset: number, lineBytesMax: number) {
    this.#file = file;
    this.#windowOffset = offset;
    this.#lineBytesMax = lineBytesMax;
    this.nextOffset = offset;
  }

  /** Moves to the next line whose end has been read; false when `fill` has to be called. */
  next(): boolean {
    const newline = this.bytes.indexOf(LF, this.#searched);
    if (newline < 0 || newline >= this.#end) {
      this.#searched = this.#end;
      return false;
    }
    this.#take(newline, newline + 1);
    return true;
  }

  /** Reads on; false at the end of the file, as it is now. */
  async fill(): Promise<boolean> {
    this.#makeRoom();
    const offset = this.#windowOffset + this.#end;
    const count = await this.#file.read(this.bytes.subarray(this.#end), offset);
    this.#end += count;
    return count > 0;
  }

  /** At the end of the file: moves to the last line when no line's end is behind it. */
  takeRest(): boolean {
    if (this.#at === this.#end && this.#cut === undefined) return false;
    this.#take(this.#end, this.#end);
    return true;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #take(lineEnd: number, next: number): void {
    const cut = this.#cut;
    this.offset = cut === undefined ? this.#windowOffset + this.#at : cut.offset;
    this.nextOffset = this.#windowOffset + next;
    this.start = this.#at;
    this.end = lineEnd;
    this.isCut = cut !== undefined;
    if (this.end > this.start && next > lineEnd && this.bytes[this.end - 1] === CR) this.end -= 1;
    if (cut === undefined && this.end - this.start > this.#lineBytesMax) {
      this.isCut = true;
      this.end = this.start + this.#lineBytesMax;
    }
    this.#at = next;
    this.#searched = next;
    if (cut !== undefined) this.#showCut(cut.bytes);
  }

  /** The window is larger than any line that is cut. */
  #showCut(bytes: Uint8Array): void {
    this.#cut = undefined;
    // What is left of the window moves behind the beginning of the line.
    const rest = new Uint8Array(this.bytes.subarray(this.#at, this.#end));
    const window = Buffer.allocUnsafeSlow(Math.max(this.bytes.length, bytes.length + rest.length));
    window.set(bytes);
    window.set(rest, bytes.length);
    this.bytes = window;
    this.start = 0;
    this.end = bytes.length;
    this.#windowOffset += this.#at - bytes.length;
    this.#at = bytes.length;
    this.#searched = bytes.length;
    this.#end = bytes.length + rest.length;
  }

  /** Moves what is left to the front, and grows for a line that is longer than the window. */
  #makeRoom(): void {
    if (this.#at > 0) {
      this.bytes.copyWithin(0, this.#at, this.#end);
      this.#windowOffset += this.#at;
      this.#end -= this.#at;
      this.#searched -= this.#at;
      this.#at = 0;
    }
    if (this.#cut !== undefined) this.#skip();
    // A \r may belong to the line's end.
    else if (this.#end > this.#lineBytesMax + 1) {
      const bytes = new Uint8Array(this.bytes.subarray(0, this.#lineBytesMax));
      this.#cut = { bytes, offset: this.#windowOffset };
      this.#skip();
    } else if (this.#end === this.bytes.length) {
      const grown = Buffer.allocUnsafeSlow(this.bytes.length * 2);
      grown.set(this.bytes);
      this.bytes = grown;
    }
  }

  /** Passes over what has been searched for the end of a line in vain. */
  #skip(): void {
    this.#windowOffset += this.#end;
    this.#end = 0;
    this.#searched = 0;
  }
}

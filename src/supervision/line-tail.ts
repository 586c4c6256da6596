import { StringDecoder } from 'node:string_decoder';

/** Enough for a long stack line; what is longer is a dump that nobody reads in a report. */
const LINE_LENGTH_MAX = 2_000;

/**
 * A frame of machine code, as Node prints them by the dozen when its heap is exhausted: they tell
 * nobody anything, and would push out the line that says what has happened.
 */
const NATIVE_FRAME = /^\s*\d+: 0x[\da-f]+ /;

/** Keeps the last lines of a stream of bytes. Memory: `linesMax` lines of 2,000 characters. */
export class LineTail {
  readonly #linesMax: number;
  readonly #decoder = new StringDecoder('utf8');
  #complete: string[] = [];
  #partial = '';

  constructor(linesMax: number) {
    this.#linesMax = linesMax;
  }

  append(chunk: Uint8Array): void {
    const lines = this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    const [first = '', ...rest] = lines.split('\n');
    this.#partial = cut(this.#partial + first);
    for (const line of rest) {
      if (!NATIVE_FRAME.test(this.#partial)) this.#complete.push(this.#partial.trimEnd());
      this.#partial = cut(line);
    }
    this.#complete = this.#complete.slice(-this.#linesMax);
  }

  /** Oldest first; a last line without its line break counts. */
  lines(): readonly string[] {
    const partial = this.#partial.trimEnd();
    return partial === '' ? this.#complete : [...this.#complete, partial].slice(-this.#linesMax);
  }
}

function cut(line: string): string {
  return line.length <= LINE_LENGTH_MAX ? line : line.slice(0, LINE_LENGTH_MAX);
}

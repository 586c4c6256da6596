const NEWLINE = 0x0a;

/** Makes lines of UTF-8 out of chunks that are cut anywhere. Holds at most one unfinished line. */
export class LineSplitter {
  readonly #bytesMax: number;
  readonly #onLine: (line: string) => void;
  #parts: Buffer[] = [];
  #bytes = 0;

  /** Lines of more than `bytesMax` bytes are passed over. Empty ones are none. */
  constructor(bytesMax: number, onLine: (line: string) => void) {
    this.#bytesMax = bytesMax;
    this.#onLine = onLine;
  }

  /** The chunk may be written again afterwards. */
  add(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end < 0) break;
      this.#keep(chunk.subarray(start, end));
      this.#finish();
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes <= this.#bytesMax && part.length > 0) this.#parts.push(Buffer.from(part));
    else if (this.#bytes > this.#bytesMax) this.#parts = [];
  }

  #finish(): void {
    const isWhole = this.#bytes > 0 && this.#bytes <= this.#bytesMax;
    const line = isWhole ? Buffer.concat(this.#parts).toString('utf8') : undefined;
    this.#parts = [];
    this.#bytes = 0;
    if (line !== undefined) this.#onLine(line);
  }
}

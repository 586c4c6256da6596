import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import type { SunkLines } from './sunk-lines.ts';

/** Line n is in file n modulo this. */
export const LINE_FILES = 2;
/** Half of what the slow bolts can do on an idle machine. */
const LINES_PER_SECOND = 300;
/** So many may be on their way: more than the spouts may have pending, so that files hold some. */
const UNDER_WAY_MAX = 1_500;
const WRITE_EVERY_MS = 100;

/** Appends lines at a steady pace until it is told to stop, and never too many at once. */
export class LineWriter {
  written = 0;
  readonly #folder: string;
  readonly #sunk: SunkLines;
  readonly #timer = systemClock.every(WRITE_EVERY_MS, () => this.#write());

  constructor(folder: string, sunk: SunkLines) {
    this.#folder = folder;
    this.#sunk = sunk;
  }

  stop(): void {
    this.#timer.cancel();
  }

  #write(): void {
    this.#sunk.read();
    const room = UNDER_WAY_MAX - (this.written - this.#sunk.distinct.size);
    const end = this.written + Math.min(room, (LINES_PER_SECOND * WRITE_EVERY_MS) / 1000);
    const texts = Array.from({ length: LINE_FILES }, () => '');
    for (; this.written < end; this.written += 1) {
      texts[this.written % LINE_FILES] += `line ${this.written}\n`;
    }
    for (const [file, text] of texts.entries()) {
      appendFileSync(join(this.#folder, `lines-${file}.txt`), text);
    }
  }
}

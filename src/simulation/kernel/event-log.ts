/*
  What happened in a simulated world, a line per event that matters:

        12.345678 s  stmgr-1          connects to 127.0.0.1:4001

  L1. Equal runs make equal bytes: nothing but simulated time and what the world said is in them.
  L2. `hash` covers every line ever added, and every mark: a run that differs from another in
      something that no line tells of differs in its hash.
  L3. Lines are in the order in which the events ran. The times of one source only grow; a source
      that works for long runs ahead of the others.
*/

import { createHash, type Hash } from 'node:crypto';
import { MICROSECONDS_PER_SECOND } from './simulated-time.ts';

const SECONDS_WIDTH = 11;
const SOURCE_WIDTH = 16;
/** Text is hashed in pieces of about this size. */
const PIECE_CHARACTERS = 16 * 1024;

export interface EventLogOptions {
  /** The time now, in microseconds. */
  readonly nowUs: () => number;
  /** False: only the hash is kept, in constant memory. True unless set. */
  readonly keepsText?: boolean;
}

export class EventLog {
  readonly #nowUs: () => number;
  readonly #keepsText: boolean;
  readonly #hash: Hash = createHash('sha256');
  readonly #kept: string[] = [];
  #piece = '';
  #lines = 0;
  #markLow = 0;
  #markHigh = 0;

  constructor({ nowUs, keepsText = true }: EventLogOptions) {
    this.#nowUs = nowUs;
    this.#keepsText = keepsText;
  }

  /** Further lines of `text` are indented under the first. */
  add(source: string, text: string): void {
    const seconds = (this.#nowUs() / MICROSECONDS_PER_SECOND).toFixed(6).padStart(SECONDS_WIDTH);
    const indented = text.includes('\n') ? text.trimEnd().replaceAll('\n', '\n    ') : text;
    this.#piece += `${seconds} s  ${source.padEnd(SOURCE_WIDTH)} ${indented}\n`;
    this.#lines += 1;
    if (this.#piece.length >= PIECE_CHARACTERS) this.#digestPiece();
  }

  /** Takes two numbers into the hash, at next to no cost and without a line. */
  mark(one: number, other: number): void {
    this.#markLow = Math.imul(this.#markLow ^ one, 0x9e3779b1) ^ (this.#markLow >>> 15);
    this.#markHigh = Math.imul(this.#markHigh ^ other, 0x85ebca6b) ^ (this.#markLow >>> 13);
  }

  get lines(): number {
    return this.#lines;
  }

  /** All lines so far; empty where only the hash is kept. */
  get text(): string {
    return this.#keepsText ? this.#kept.join('') + this.#piece : '';
  }

  /** Of everything so far, in hexadecimal. */
  get hash(): string {
    const marks = `${this.#markLow >>> 0} ${this.#markHigh >>> 0}`;
    return this.#hash.copy().update(this.#piece).update(marks).digest('hex');
  }

  #digestPiece(): void {
    this.#hash.update(this.#piece);
    if (this.#keepsText) this.#kept.push(this.#piece);
    this.#piece = '';
  }
}

/*
  A file that is only appended to and never takes more than its share of the disk.

  R1. Synchronous: when `append` returns the bytes are the operating system's, so they survive the
      end of the process, whatever ended it.
  R2. Bounded: the file holds at most `bytesMax` and one append; older content is in `file.1`, still
      older in `file.2`, and there are never more than `filesMax` files in all.
  R3. Never throws once it is made, nor for a disk that is full or read-only when it is made: nobody
      must end because of a log. What cannot be written is counted and forgotten; the file is
      opened afresh at the next append, which is where it heals.
  R4. Appends are lines: one that was cut short, by a full disk or a crash, is ended at the next
      opening, so that it takes none of the following ones with it.
  R5. Several writers, threads for example, may share a file: appends do not mix, and every
      CHECK_BYTES each writer looks whether another one has rotated the file under it. Until it
      looks, a writer may add that many bytes to R2's bound.
*/

import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { environmentError, messageOf } from './errors.ts';
import { systemCodeOf } from './system-codes.ts';

export interface RotatingFileOptions {
  readonly file: string;
  readonly bytesMax: number;
  /** The current file and the older ones together; 1 or more. */
  readonly filesMax: number;
}

/** What writers see of such a file. */
export interface AppendFile {
  /** Adds whole lines. Returns false when they are lost; never throws. */
  append(lines: string | Uint8Array): boolean;
  /** Idempotent; what is appended afterwards is lost. */
  close(): void;
}

const CHECK_BYTES = 64 * 1024;
const CLOSED = -1;
/** What a disk may say today and not tomorrow. */
const HEALING: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EROFS']);
const NEW_LINE = Buffer.from('\n');

export class RotatingFile implements AppendFile {
  readonly #file: string;
  readonly #bytesMax: number;
  readonly #filesMax: number;
  #descriptor: number;
  #bytes = 0;
  #uncheckedBytes = 0;
  #hasFolder = false;
  #closed = false;
  #dropped = 0;
  #lastFailure = '';

  /** @throws EngineError FILE_FAILED when the file can never be opened (R3). */
  constructor({ file, bytesMax, filesMax }: RotatingFileOptions) {
    this.#file = file;
    this.#bytesMax = bytesMax;
    this.#filesMax = filesMax;
    this.#descriptor = CLOSED;
    try {
      this.#descriptor = this.#open();
    } catch (cause) {
      this.#lastFailure = messageOf(cause);
      if (HEALING.has(systemCodeOf(cause) ?? '')) return;
      throw environmentError('FILE_FAILED', `cannot write to ${file}: ${this.#lastFailure}`, {
        cause,
      });
    }
  }

  /** How many appends were lost so far. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Why the last of them was lost. */
  get lastFailure(): string {
    return this.#lastFailure;
  }

  /** Adds whole lines. Returns false when they are lost (R3). */
  append(lines: string | Uint8Array): boolean {
    if (this.#closed) return false;
    const bytes = typeof lines === 'string' ? Buffer.from(lines) : lines;
    try {
      if (this.#descriptor === CLOSED) this.#descriptor = this.#open();
      this.#makeRoom(bytes.length);
      this.#write(bytes);
      return true;
    } catch (error) {
      this.#dropped += 1;
      this.#lastFailure = messageOf(error);
      this.#closeDescriptor();
      return false;
    }
  }

  close(): void {
    this.#closed = true;
    this.#closeDescriptor();
  }

  #open(): number {
    this.#makeFolderOnce();
    const descriptor = openSync(this.#file, 'a+', 0o600);
    this.#bytes = fstatSync(descriptor).size;
    this.#uncheckedBytes = 0;
    if (endsInMidLine(descriptor, this.#bytes)) this.#bytes += writeSync(descriptor, NEW_LINE);
    return descriptor;
  }

  /** A folder that has gone since then was removed on purpose. */
  #makeFolderOnce(): void {
    if (this.#hasFolder) return;
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    this.#hasFolder = true;
  }

  #makeRoom(byteCount: number): void {
    this.#uncheckedBytes += byteCount;
    if (this.#uncheckedBytes >= CHECK_BYTES) this.#look();
    if (this.#bytes === 0 || this.#bytes + byteCount <= this.#bytesMax) return;
    this.#look();
    if (this.#bytes + byteCount > this.#bytesMax) this.#rotate();
  }

  /** Takes up what other writers did to the file (R5). */
  #look(): void {
    const own = fstatSync(this.#descriptor);
    const current = statSync(this.#file, { throwIfNoEntry: false });
    if (current?.ino === own.ino && current.dev === own.dev) {
      this.#bytes = own.size;
      this.#uncheckedBytes = 0;
    } else {
      this.#reopen();
    }
  }

  #rotate(): void {
    for (let age = this.#filesMax - 1; age > 0; age -= 1) {
      const from = age === 1 ? this.#file : `${this.#file}.${age - 1}`;
      if (statSync(from, { throwIfNoEntry: false }) !== undefined) {
        renameSync(from, `${this.#file}.${age}`);
      }
    }
    if (this.#filesMax === 1) truncateSync(this.#file);
    this.#reopen();
  }

  #reopen(): void {
    this.#closeDescriptor();
    this.#descriptor = this.#open();
  }

  #write(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      const written = writeSync(this.#descriptor, bytes, at);
      at += written;
      this.#bytes += written;
    }
  }

  #closeDescriptor(): void {
    if (this.#descriptor !== CLOSED) closeSync(this.#descriptor);
    this.#descriptor = CLOSED;
  }
}

function endsInMidLine(descriptor: number, size: number): boolean {
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(descriptor, last, 0, 1, size - 1);
  return !last.equals(NEW_LINE);
}

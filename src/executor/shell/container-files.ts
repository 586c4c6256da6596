import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readdir, realpath, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { join, relative, sep } from 'node:path';
import { systemCodeOf } from '../../base/system-codes.ts';
import { BYTES_PER_MB } from '../../base/units.ts';
import { listedStat } from './listed-stat.ts';
import { ShellRefusal } from './shell-refusal.ts';

/*
  The files of a container as its shell serves them.

  F1. Nothing outside of the container's folder: no absolute path, no `..`, and no symbolic link
      that leads out, which is decided by where a path really leads.
  F2. Nothing that holds secrets (`isSecret`).
  F3. Bounded memory: a part of a file has a limit, and a whole file goes out in chunks.
*/

/** What a page or a terminal shows at once is far less; whoever wants more asks for the next. */
const PART_BYTES_MAX = BYTES_PER_MB;
const CHUNK_BYTES = 64 * 1024;
/** A pipe that nobody writes to would be waited for without end. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * Files that begin with a dot are those of tools and of this engine: `.env`, `.npmrc`. A topology's
 * definition has its settings as they were written.
 */
const SECRET_NAME = /^\.|(?:password|secret|token)s?(?:\.\w+)?$|\.(?:defn|key|pem|p12|pfx)$/i;

export interface FileRange {
  /** -1 is the end of the file. */
  readonly offset: number;
  /** -1 is the rest. */
  readonly length: number;
}

export interface FilePart {
  readonly offset: number;
  readonly length: number;
  readonly data?: string;
}

/** Whoever has it destroys `content`, or reads it to its end. */
export interface FileStream {
  readonly bytes: number;
  readonly content: Readable;
}

export class ContainerFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Text out of a file; it ends with a whole character, so that the next part begins with one.
   *
   * @throws ShellRefusal
   */
  async part(path: string, range: FileRange): Promise<FilePart> {
    await using file = await this.#open(path);
    const { offset, length } = await within(file, range);
    const bytes = Buffer.alloc(Math.min(length, PART_BYTES_MAX));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset);
    if (bytesRead === 0) return { offset, length: 0 };
    const end = wholeCharacters(bytes.subarray(0, bytesRead));
    // Less than a character was asked for: it is not waited for.
    const taken = end === 0 && offset + bytesRead < (await file.stat()).size ? bytesRead : end;
    if (taken === 0) return { offset, length: 0 };
    return { offset, length: taken, data: bytes.toString('utf8', 0, taken) };
  }

  /** @throws ShellRefusal */
  async stream(path: string, range: FileRange): Promise<FileStream> {
    const file = await this.#open(path);
    try {
      const { offset, length } = await within(file, range);
      if (length > 0) {
        const reading = { start: offset, end: offset + length - 1, highWaterMark: CHUNK_BYTES };
        return { bytes: length, content: file.createReadStream(reading) };
      }
    } catch (error) {
      await file.close();
      throw error;
    }
    await file.close();
    return { bytes: 0, content: Readable.from([]) };
  }

  /** What is in a folder, as Heron's shell lists it. @throws ShellRefusal */
  async list(path: string): Promise<object> {
    const folder = await this.#resolve(path);
    const own = await stat(folder);
    if (!own.isDirectory()) throw new ShellRefusal(400, `${path} is no folder`);
    const base = relative(await realpath(this.#folder), folder);
    const names = (await readdir(folder)).filter((name) => !SECRET_NAME.test(name)).toSorted();
    const found = await Promise.all(names.map((name) => statOf(join(folder, name))));
    const entries = names.flatMap((name, index): [string, object][] => {
      const stats = found[index];
      return stats === undefined ? [] : [[name, listedStat(name, stats, join(base, name))]];
    });
    const up = base === '' ? [] : [['..', listedStat('..', own, join(base, '..'))] as const];
    return Object.fromEntries([...up, ...entries]);
  }

  async #open(path: string): Promise<FileHandle> {
    const file = await open(await this.#resolve(path), READ);
    const stats = await file.stat();
    if (stats.isFile()) return file;
    await file.close();
    throw new ShellRefusal(400, `${path} is no file`);
  }

  /** Where a path really leads (F1, F2). */
  async #resolve(path: string): Promise<string> {
    const parts = path.split(/[/\\]/);
    if (path.startsWith('/') || parts.includes('..') || path.includes('\0')) {
      throw new ShellRefusal(403, 'Only what is in the folder of the container is served');
    }
    const root = await realpath(this.#folder);
    const real = await realOf(join(root, path), path);
    const inside = relative(root, real);
    if (inside.split(sep)[0] === '..') {
      throw new ShellRefusal(403, `${path} leads out of the folder of the container`);
    }
    const isSecret = (name: string): boolean => name !== '.' && SECRET_NAME.test(name);
    if (parts.some(isSecret) || inside.split(sep).some(isSecret)) {
      throw new ShellRefusal(403, `${path} may hold secrets and is not served`);
    }
    return real;
  }
}

async function realOf(path: string, shown: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes(systemCodeOf(error) ?? '')) throw error;
    throw new ShellRefusal(404, `There is no ${shown} in this container`);
  }
}

/** Undefined for what has gone meanwhile. */
async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch {
    return undefined;
  }
}

async function within(file: FileHandle, { offset, length }: FileRange): Promise<FileRange> {
  const { size } = await file.stat();
  const from = offset === -1 ? size : Math.min(offset, size);
  return { offset: from, length: length === -1 ? size - from : Math.min(length, size - from) };
}

/** Up to where the bytes are whole characters of UTF-8: all, unless the last one is cut. */
function wholeCharacters(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let back = 1; back <= Math.min(3, length); back += 1) {
    const byte = bytes[length - back] as number;
    if (byte < 0x80) return length;
    if (byte >= 0xc0) return back < characterBytes(byte) ? length - back : length;
  }
  return length; // No UTF-8.
}

function characterBytes(first: number): number {
  if (first >= 0xf0) return 4;
  return first >= 0xe0 ? 3 : 2;
}

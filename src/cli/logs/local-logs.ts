import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogFolder } from '../../scheduler/create.ts';
import {
  inOrder,
  type LogFile,
  nameAt,
  type NamedLog,
  parseLogName,
  ROTATED_AWAY,
  ROTATIONS_SEARCHED_MAX,
} from './log-files.ts';

/*
  Log files on this machine, which are rotated while they are read.

  F1. Bytes are those of the file that was listed, never of another one that got its name since: a
      file is known by its inode, and is looked for under its older names.
  F2. Who follows holds files open until they are read to their end, so one that is rotated away
      meanwhile is read all the same. At most HELD_MAX; without one, F1 still holds.
*/

/** Far below what a process may have open, far above the files that are written at one time. */
const HELD_MAX = 256;
const CHUNK_BYTES = 256 * 1024;

interface HeldFile {
  readonly handle: FileHandle;
  readonly named: NamedLog;
  /** Up to where it was read. */
  reached: number;
  /** It has no name any more, and was listed without one. */
  isLast: boolean;
}

export class LocalLogs implements AsyncDisposable {
  readonly #holdsFiles: boolean;
  readonly #held = new Map<string, HeldFile>();

  constructor({ holdsFiles }: { readonly holdsFiles: boolean }) {
    this.#holdsFiles = holdsFiles;
  }

  /** Oldest first within a key. Files that vanish meanwhile are left out. */
  async list(folders: readonly LogFolder[]): Promise<readonly LogFile[]> {
    const listed = (await Promise.all(folders.map((folder) => this.#filesIn(folder)))).flat();
    if (this.#holdsFiles) listed.push(...(await this.#hold(listed)));
    return inOrder(listed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const held = [...this.#held.values()];
    this.#held.clear();
    await Promise.all(held.map(({ handle }) => handle.close()));
  }

  async #filesIn({ container, path: folder }: LogFolder): Promise<readonly ListedFile[]> {
    const files = await Promise.all(
      (await namesIn(folder)).map(async (name) => {
        const named = parseLogName(container, name);
        if (named === undefined) return [];
        const status = await stat(join(folder, name)).catch(() => undefined);
        if (status === undefined || !status.isFile()) return [];
        const file: ListedFile = {
          ...named,
          folder,
          identity: `${status.dev}:${status.ino}`,
          writtenAtMs: status.mtimeMs,
          bytes: status.size,
          chunkBytes: CHUNK_BYTES,
          read: (offset, length) => this.#read(file, offset, length),
        };
        return [file];
      }),
    );
    return files.flat();
  }

  /** Takes hold of what is not read yet (F2); those held that have no name any more. */
  async #hold(listed: readonly ListedFile[]): Promise<readonly ListedFile[]> {
    const known = new Set(listed.map(({ identity }) => identity));
    for (const file of listed.toSorted((a, b) => a.age - b.age)) {
      const held = this.#held.get(file.identity);
      if (held !== undefined && file.age > 0 && held.reached >= file.bytes) {
        await this.#drop(file.identity);
      } else if (held === undefined && file.age === 0 && this.#held.size < HELD_MAX) {
        const handle = await openSame(file);
        if (handle === undefined) continue;
        this.#held.set(file.identity, { handle, named: file, reached: 0, isLast: false });
      }
    }
    const nameless: ListedFile[] = [];
    for (const [identity, held] of this.#held) {
      if (known.has(identity)) {
        held.isLast = false;
        continue;
      }
      const { size, mtimeMs } = await held.handle.stat();
      if (held.isLast && held.reached >= size) await this.#drop(identity);
      held.isLast = true;
      const file: ListedFile = {
        ...held.named,
        folder: '',
        identity,
        age: ROTATED_AWAY,
        writtenAtMs: mtimeMs,
        bytes: size,
        chunkBytes: CHUNK_BYTES,
        read: (offset, length) => this.#read(file, offset, length),
      };
      nameless.push(file);
    }
    return nameless;
  }

  async #drop(identity: string): Promise<void> {
    const held = this.#held.get(identity);
    this.#held.delete(identity);
    await held?.handle.close();
  }

  async #read(file: ListedFile, offset: number, length: number): Promise<Uint8Array | undefined> {
    const held = this.#held.get(file.identity);
    if (held !== undefined) {
      const bytes = await readFrom(held.handle, offset, length);
      held.reached = Math.max(held.reached, offset + bytes.length);
      return bytes;
    }
    const handle = await openSame(file);
    if (handle === undefined) return undefined;
    try {
      return await readFrom(handle, offset, length);
    } finally {
      await handle.close();
    }
  }
}

interface ListedFile extends LogFile {
  readonly base: string;
  readonly folder: string;
}

/** Undefined when there is no such file any more (F1). */
async function openSame({ folder, base, age, identity }: ListedFile) {
  for (let older = 0; older < ROTATIONS_SEARCHED_MAX; older += 1) {
    const handle = await open(join(folder, nameAt(base, age + older))).catch(() => undefined);
    if (handle === undefined) continue;
    const { dev, ino } = await handle.stat();
    if (`${dev}:${ino}` === identity) return handle;
    await handle.close();
  }
  return undefined;
}

async function readFrom(handle: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  while (at < length) {
    const { bytesRead } = await handle.read(bytes, at, length - at, offset + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return bytes.subarray(0, at);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch {
    return []; // Not there yet, or just moved away: the next look finds it.
  }
}

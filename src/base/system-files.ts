import { readdirSync, readFileSync, renameSync, unlinkSync, watch, writeFileSync } from 'node:fs';
import * as disk from 'node:fs/promises';
import { basename } from 'node:path';
import type { Files, FileWatch, FileWatchEvents, NewFileOptions } from './files.ts';
import { systemCodeOf } from './system-codes.ts';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

const MILLISECONDS_PER_SECOND = 1_000;

/** Another process may add to a tree while it is being removed. */
const REMOVALS_MAX = 3;

/** The machine's file system. */
export const systemFiles: Files = {
  read: async (file) => new Uint8Array(await disk.readFile(file)),
  write: writeFile,
  append: appendFile,
  copy: copyFile,
  rename: disk.rename,
  link: disk.link,
  unlink: disk.unlink,
  makeFolder: async (folder, mode = FOLDER_MODE) => {
    await disk.mkdir(folder, { mode });
  },
  removeFolder: (folder) => disk.rmdir(folder),
  removeTree: (path) => disk.rm(path, { recursive: true, force: true, maxRetries: REMOVALS_MAX }),
  list: async (folder) => {
    const entries = await disk.readdir(folder, { withFileTypes: true });
    return entries.map((entry) => ({
      name: entry.name,
      isFolder: entry.isDirectory(),
      isFile: entry.isFile(),
    }));
  },
  facts: async (path) => {
    const facts = await disk.stat(path);
    return {
      isFolder: facts.isDirectory(),
      bytes: facts.size,
      inode: facts.ino,
      modifiedAtMs: facts.mtimeMs,
    };
  },
  date: (path, modifiedAtMs) => {
    const time = modifiedAtMs / MILLISECONDS_PER_SECOND;
    return disk.utimes(path, time, time);
  },
  watch: watchFolder,

  readNow: (file) => new Uint8Array(readFileSync(file)),
  writeNow: (file, bytes, options = {}) =>
    writeFileSync(file, bytes, { mode: options.mode ?? FILE_MODE }),
  renameNow: renameSync,
  removeNow: (file) => {
    try {
      unlinkSync(file);
    } catch (error) {
      if (systemCodeOf(error) !== 'ENOENT') throw error;
    }
  },
  listNow: (folder) => readdirSync(folder),
};

async function writeFile(
  path: string,
  bytes: Uint8Array,
  { exclusive = false, durable = false, mode = FILE_MODE }: NewFileOptions = {},
): Promise<void> {
  const file = await disk.open(path, exclusive ? 'wx' : 'w', mode);
  try {
    await file.writeFile(bytes);
    if (durable) await file.datasync();
  } finally {
    await file.close();
  }
}

/** In one call of the system, which on a local disk is what keeps appends of several apart. */
async function appendFile(
  path: string,
  bytes: Uint8Array,
  { durable = false, mode = FILE_MODE }: NewFileOptions = {},
): Promise<void> {
  const file = await disk.open(path, 'a', mode);
  try {
    await file.appendFile(bytes);
    if (durable) await file.datasync();
  } finally {
    await file.close();
  }
}

async function copyFile(from: string, to: string): Promise<void> {
  await disk.copyFile(from, to);
  await disk.chmod(to, FILE_MODE); // Until here it has the mode of the other file.
}

function watchFolder(folder: string, events: FileWatchEvents): FileWatch {
  const folderName = basename(folder);
  const watcher = watch(folder, (_event, changed) => {
    // The platform gives a folder's own name, as if it were in itself, when the folder goes.
    events.onChange(changed === null || changed === folderName ? undefined : changed);
  });
  watcher.on('error', (error) => events.onLost(error)); // It has closed itself.
  return { close: () => watcher.close() };
}

import { open } from 'node:fs/promises';
import type { Files } from '../base/files.ts';
import { makeFolder } from '../base/make-folder.ts';
import { readIfThere } from '../base/optional-files.ts';
import { systemFiles } from '../base/system-files.ts';

/**
 * The disk as a file source needs it; paths are absolute. Errors are Node's, with the operating
 * system's `code`.
 */
export interface SourceFiles {
  /** Opens a file to read it; rejects with ENOENT when it is not there. */
  open(path: string): Promise<OpenSourceFile>;
  /** A small file as a whole; undefined when it is not there. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Puts a small file in the place of another, so that after a crash it is one of the two. */
  replace(path: string, bytes: Uint8Array): Promise<void>;
}

export interface OpenSourceFile {
  /** Reads from an offset of the file; gives how many bytes there were, 0 at its end. */
  read(into: Uint8Array, offset: number): Promise<number>;
  /** In bytes. */
  size(): Promise<number>;
  close(): Promise<void>;
}

/** The machine's files. */
export const systemSourceFiles: SourceFiles = {
  open: async (path) => {
    const file = await open(path, 'r');
    return {
      read: async (into, offset) => (await file.read(into, 0, into.length, offset)).bytesRead,
      size: async () => (await file.stat()).size,
      close: () => file.close(),
    };
  },
  read: (path) => readIfThere(systemFiles, path),
  replace: (path, bytes) => replaceFile(systemFiles, path, bytes),
};

async function replaceFile(files: Files, path: string, bytes: Uint8Array): Promise<void> {
  await makeFolder(files, path.slice(0, path.lastIndexOf('/')));
  await files.write(`${path}.new`, bytes, { durable: true });
  await files.rename(`${path}.new`, path);
}

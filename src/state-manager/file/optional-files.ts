import { readFile, unlink } from 'node:fs/promises';
import { unless } from './disk-errors.ts';

/** A file's bytes, or undefined when there is no such file. */
export async function readIfThere(file: string): Promise<Uint8Array | undefined> {
  const bytes = await unless(['ENOENT'], readFile(file), undefined);
  return bytes === undefined ? undefined : new Uint8Array(bytes);
}

/** Removes a file; one that is not there counts as success. */
export async function removeIfThere(file: string): Promise<void> {
  await unless(['ENOENT'], unlink(file), undefined);
}

import type { Files } from './files.ts';
import { unless } from './system-codes.ts';

/** A file's bytes, or undefined when there is no such file. */
export function readIfThere(files: Files, file: string): Promise<Uint8Array | undefined> {
  return unless(['ENOENT'], files.read(file), undefined);
}

/** Removes a file; one that is not there counts as success. */
export function removeIfThere(files: Files, file: string): Promise<void> {
  return unless(['ENOENT'], files.unlink(file), undefined);
}

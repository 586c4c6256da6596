import { dirname } from 'node:path';
import type { Files } from './files.ts';
import { systemCodeOf } from './system-codes.ts';

/**
 * Makes a folder and those above it, for the user only; one that is there is left alone. Node's own
 * recursive mkdir is not used: it never returns where a parent is there and yet refuses with
 * ENOENT, as below /proc.
 */
export async function makeFolder(files: Files, folder: string): Promise<void> {
  try {
    await makeOne(files, folder);
  } catch (error) {
    const parent = dirname(folder);
    if (systemCodeOf(error) !== 'ENOENT' || parent === folder) throw error;
    await makeFolder(files, parent);
    await makeOne(files, folder);
  }
}

async function makeOne(files: Files, folder: string): Promise<void> {
  try {
    await files.makeFolder(folder);
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST' || !(await files.facts(folder)).isFolder) throw error;
  }
}

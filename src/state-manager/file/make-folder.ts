import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCodeOf } from './disk-errors.ts';
import { FOLDER_MODE } from './disk-layout.ts';

/**
 * Makes a folder and those above it; one that is there is left alone. Node's own recursive mkdir is
 * not used: it never returns where a parent is there and yet refuses with ENOENT, as below /proc.
 */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await makeOne(folder);
  } catch (error) {
    const parent = dirname(folder);
    if (systemCodeOf(error) !== 'ENOENT' || parent === folder) throw error;
    await makeFolder(parent);
    await makeOne(folder);
  }
}

async function makeOne(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: FOLDER_MODE });
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST' || !(await stat(folder)).isDirectory()) throw error;
  }
}

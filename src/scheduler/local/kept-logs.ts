import { dirname, join } from 'node:path';
import { environmentError, messageOf } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { systemCodeOf, unless } from '../../base/system-codes.ts';
import { DEAD_LETTER_FOLDER } from '../../model/dead-letter.ts';
import { logFolder } from './working-folder.ts';

/*
  What outlives a container: its log files, and its dead letters among them. Every step may find its
  work done, half done or not begun.
*/

/** @throws EngineError FILE_FAILED naming what cannot be kept. */
export async function keepContainer(files: Files, container: string, kept: string): Promise<void> {
  await move(files, logFolder(container), kept);
  await move(files, join(container, DEAD_LETTER_FOLDER), join(kept, DEAD_LETTER_FOLDER));
}

/**
 * The other direction, for a container that comes back: its processes go on in their log files,
 * and its dead letters are where their tools look for them. Call it before anything runs there.
 *
 * @throws EngineError FILE_FAILED naming what cannot be moved.
 */
export async function bringBack(files: Files, container: string, kept: string): Promise<void> {
  await move(files, join(kept, DEAD_LETTER_FOLDER), join(container, DEAD_LETTER_FOLDER));
  await move(files, kept, logFolder(container));
}

/**
 * Moves a file or a folder; one that is not there has been moved already. A folder that is there
 * takes the entries of the other one, in place of those of the same name.
 *
 * @throws EngineError FILE_FAILED naming what cannot be kept.
 */
export async function move(files: Files, from: string, to: string): Promise<void> {
  try {
    await makeFolder(files, dirname(to));
    await unless(['ENOENT'], renameOrMerge(files, from, to), undefined);
  } catch (cause) {
    throw environmentError('FILE_FAILED', `cannot keep ${from}: ${messageOf(cause)}`, { cause });
  }
}

async function renameOrMerge(files: Files, from: string, to: string): Promise<void> {
  try {
    await files.rename(from, to);
  } catch (error) {
    const code = systemCodeOf(error) ?? '';
    if (!['EXDEV', 'ENOTEMPTY', 'EEXIST'].includes(code)) throw error;
    await copyTree(files, from, to);
    await files.removeTree(from);
  }
}

/** Repeated, it completes what an interrupted one left. */
async function copyTree(files: Files, from: string, to: string): Promise<void> {
  const { isFolder } = await files.facts(from);
  if (!isFolder) return files.copy(from, to);
  await makeFolder(files, to);
  for (const { name } of await files.list(from)) {
    await copyTree(files, join(from, name), join(to, name));
  }
}

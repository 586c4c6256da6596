import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { environmentError, messageOf } from '../../base/errors.ts';
import { encodeDeadLetter, parseDeadLetterFile } from '../../model/dead-letter.ts';
import type { LetterFile } from './letter-files.ts';

/**
 * Removes letters from the file of a task that is gone (D1 of model/dead-letter.ts); returns how
 * many there were. A crash leaves the file as it was, or as it shall be.
 *
 * @throws EngineError FILE_FAILED
 */
export async function removeLetters({
  path,
  letters,
}: Pick<LetterFile, 'path' | 'letters'>): Promise<number> {
  const gone = new Set(letters.map(({ id }) => id));
  try {
    const there = parseDeadLetterFile(await readFile(path)).letters;
    const left = there.filter(({ id }) => !gone.has(id));
    if (left.length === 0) await rm(path, { force: true });
    else {
      const temporary = `${path}.${process.pid}.new`;
      await writeFile(temporary, left.map(encodeDeadLetter), { mode: 0o600, flush: true });
      await rename(temporary, path);
    }
    return there.length - left.length;
  } catch (cause) {
    throw environmentError('FILE_FAILED', `cannot change ${path}: ${messageOf(cause)}`, { cause });
  }
}

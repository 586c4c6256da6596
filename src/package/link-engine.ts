import { lstat, mkdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../base/entry.ts';
import { environmentError, messageOf } from '../base/errors.ts';

/**
 * Makes `import … from 'heron-ts'` in a folder mean this engine's own copy (R9), by the link
 * `node_modules/heron-ts`. Idempotent; a link to another copy is replaced.
 *
 * @throws EngineError FILE_FAILED
 */
export async function linkEngine(folder: string): Promise<void> {
  const link = join(folder, 'node_modules', 'heron-ts');
  try {
    await mkdir(join(folder, 'node_modules'), { recursive: true, mode: 0o700 });
    if ((await targetOf(link)) === packageRoot()) return;
    await replaceLink(link);
  } catch (cause) {
    const text = `cannot link the engine as ${link}: ${messageOf(cause)}`;
    throw environmentError('FILE_FAILED', text, { cause });
  }
}

/** By a rename, so that the name never points to nothing while a process starts there. */
async function replaceLink(link: string): Promise<void> {
  const next = `${link}.${process.pid}`;
  try {
    await rm(next, { force: true });
    await symlink(packageRoot(), next, 'dir');
    await rename(next, link);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

async function targetOf(link: string): Promise<string | undefined> {
  try {
    return (await lstat(link)).isSymbolicLink() ? await readlink(link) : undefined;
  } catch {
    return undefined; // Absent; whatever else is wrong shows when the link is made.
  }
}

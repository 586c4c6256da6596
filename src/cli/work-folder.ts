import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { environmentError, messageOf } from '../base/errors.ts';
import { identityOf, ownIdentity } from '../base/process-identity.ts';

export interface WorkFolder extends AsyncDisposable {
  readonly path: string;
}

/**
 * A folder for what a command makes on its way; gone with the command. Those of commands that were
 * killed are removed by the next one, which knows their owners by their names.
 */
export async function openWorkFolder(dataRoot: string): Promise<WorkFolder> {
  const parent = join(dataRoot, 'tmp');
  const { pid, startTicks } = ownIdentity();
  const path = join(parent, `${pid}-${startTicks}`);
  try {
    await makeFolders(path);
    await removeOrphans(parent);
  } catch (cause) {
    throw environmentError('STATE_NOT_WRITABLE', `cannot make ${path}: ${messageOf(cause)}`, {
      cause,
    });
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Unlike Node's recursive mkdir it ends below /proc, which answers ENOENT to every new folder. */
async function makeFolders(path: string): Promise<void> {
  const code = await mkdirCode(path);
  if (code === undefined || code === 'EEXIST') return;
  if (code === 'ENOENT' && dirname(path) !== path) await makeFolders(dirname(path));
  await mkdir(path, { mode: 0o700 });
}

async function mkdirCode(path: string): Promise<string | undefined> {
  try {
    await mkdir(path, { mode: 0o700 });
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'UNKNOWN';
  }
}

async function removeOrphans(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, pid, startTicks] = /^(\d+)-(\d+)$/.exec(name) ?? [];
    const isOwned = identityOf(Number(pid))?.startTicks === Number(startTicks);
    if (pid === undefined || isOwned) continue;
    await rm(join(parent, name), { recursive: true, force: true });
  }
}

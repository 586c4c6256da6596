import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogFolder } from '../../scheduler/create.ts';
import type { LineSource } from './log-line.ts';

/*
  The files in the log folders of containers:

    heron-stmgr-1.log       JSON lines of a process; heron-stmgr-1.log.1 is older, .2 still older
    stmgr-1.out             what the process printed
    …-metrics.jsonl         metrics, which are not for people
*/

export interface LogFile extends LineSource {
  /** The same wherever the folder is moved: container and file name without its age. */
  readonly key: string;
  readonly path: string;
  readonly inode: number;
  readonly bytes: number;
  /** 0 is the current one. */
  readonly age: number;
}

const NAME = /^(.+)\.(log|out)(?:\.(\d{1,4}))?$/;

/** Oldest first within a key. Files that vanish meanwhile are left out. */
export async function listLogFiles(folders: readonly LogFolder[]): Promise<readonly LogFile[]> {
  const found = await Promise.all(folders.map((folder) => filesIn(folder)));
  return found
    .flat()
    .toSorted((a, b) => (a.key === b.key ? b.age - a.age : a.key < b.key ? -1 : 1));
}

async function filesIn({ container, path }: LogFolder): Promise<readonly LogFile[]> {
  const files = await Promise.all(
    (await namesIn(path)).map(async (name) => {
      const [, process = '', extension, age = '0'] = NAME.exec(name) ?? [];
      if (extension === undefined) return [];
      const status = await stat(join(path, name)).catch(() => undefined);
      if (status === undefined || !status.isFile()) return [];
      return [
        {
          key: `${container}/${process}.${extension}`,
          container,
          path: join(path, name),
          process,
          kind: extension === 'log' ? ('log' as const) : ('output' as const),
          writtenAtMs: status.mtimeMs,
          inode: status.ino,
          bytes: status.size,
          age: Number(age),
        },
      ];
    }),
  );
  return files.flat();
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch {
    return []; // Not there yet, or just moved away: the next look finds it.
  }
}

import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { systemClock } from '../../src/base/clock.ts';
import { userError } from '../../src/base/errors.ts';
import { containerId } from '../../src/base/ids.ts';
import { LocalLogs } from '../../src/cli/logs/local-logs.ts';
import type { LogFile } from '../../src/cli/logs/log-files.ts';
import { type LogShell, ShellLogs } from '../../src/cli/logs/shell-logs.ts';
import type { FileStats } from '../../src/topology-client/container-answers.ts';

/** Lists the log files of container 1 in a folder. */
export interface LogsUnderTest {
  list(folder: string): Promise<readonly LogFile[]>;
  close(): Promise<void>;
}

/** Each way in which logs are read. */
export const FOLDERS_OF_LOGS = [
  ['on this machine', () => localLogs(true)],
  ['behind a shell', shellLogs],
  ['that are not held open', () => localLogs(false)],
] as const satisfies readonly (readonly [string, () => LogsUnderTest])[];

const CONTAINER = containerId(1);

function localLogs(holdsFiles: boolean): LogsUnderTest {
  const logs = new LocalLogs({ holdsFiles });
  return {
    list: (path) => logs.list([{ container: CONTAINER, path }]),
    close: () => logs[Symbol.asyncDispose](),
  };
}

function shellLogs(): LogsUnderTest {
  const logs = new ShellLogs({ clock: systemClock, patienceMs: 0, onSilent: () => {} });
  return {
    list: (folder) =>
      logs.list([{ container: CONTAINER, host: 'there', shell: new FolderShell(folder) }]),
    close: async () => {},
  };
}

/** A container's shell, as far as logs go, without a process: `log-files` is a folder here. */
export class FolderShell implements LogShell {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async fileStats(): Promise<FileStats> {
    const entries = await Promise.all(
      (await readdir(this.#folder)).map(async (name) => {
        const status = await stat(join(this.#folder, name));
        const entry = {
          formatted_stat: '',
          is_dir: status.isDirectory(),
          path: `log-files/${name}`,
          bytes: status.size,
          modified_at_ms: status.mtimeMs,
          inode: status.ino,
        };
        return [name, entry] as const;
      }),
    );
    return Object.fromEntries(entries);
  }

  async download(
    path: string,
    { offset = 0, length = -1 }: { readonly offset?: number; readonly length?: number },
  ): Promise<ReadableStream<Uint8Array>> {
    const file = join(this.#folder, path.slice('log-files/'.length));
    await stat(file).catch(() => {
      throw userError('INVALID_ARGUMENT', `there is no file ${path}`);
    });
    const end = length < 0 ? Number.POSITIVE_INFINITY : offset + length - 1;
    const stream = createReadStream(file, { start: offset, end });
    return Readable.toWeb(stream) as ReadableStream<Uint8Array>;
  }
}

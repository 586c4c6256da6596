import { environmentError, hasCode, messageOf } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';
import type { ContainerId } from '../../base/ids.ts';
import type { FileRange } from '../../topology-client/container-client.ts';
import type { FileStats } from '../../topology-client/container-answers.ts';
import {
  inOrder,
  type LogFile,
  nameAt,
  type NamedLog,
  parseLogName,
  ROTATIONS_SEARCHED_MAX,
} from './log-files.ts';

/*
  Log files of containers on other machines, read through the containers' shells.

  H1. Bytes are those of the file that was listed: after each part the shell is asked again what the
      names stand for. A file that has been rotated meanwhile is looked for under its next names.
  H2. A container that does not answer costs its own lines only, for as long as it does not.
*/

/** Where executors keep the logs, in the container's folder. */
const LOG_FOLDER = 'log-files';

/** Each is a question of its own, and there may be a way to go. */
const CHUNK_BYTES = 1024 * 1024;

/** What is asked of a container's shell. */
export interface LogShell {
  fileStats(path: string): Promise<FileStats>;
  download(path: string, range: FileRange): Promise<ReadableStream<Uint8Array>>;
}

export interface RemoteContainer {
  readonly container: ContainerId;
  readonly host: string;
  readonly shell: LogShell;
}

/** Called once when a container does not answer. */
export type OnSilent = (
  container: Pick<RemoteContainer, 'container' | 'host'>,
  reason: string,
) => void;

export interface ShellLogsOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** How long a container may be silent without a word: one that ends is no news. */
  readonly patienceMs: number;
  readonly onSilent: OnSilent;
}

export class ShellLogs {
  readonly #silentSinceMs = new Map<ContainerId, number>();
  readonly #told = new Set<ContainerId>();
  readonly #looks = new Map<ContainerId, SharedLooks>();
  readonly #options: ShellLogsOptions;

  constructor(options: ShellLogsOptions) {
    this.#options = options;
  }

  /** Oldest first within a key. */
  async list(containers: readonly RemoteContainer[]): Promise<readonly LogFile[]> {
    const listed = await Promise.all(
      containers.map(async (remote) => {
        try {
          return this.#filesIn(remote, await this.#stats(remote));
        } catch (error) {
          if (hasCode(error, 'CONNECTION_LOST')) return []; // H2
          throw error;
        }
      }),
    );
    return inOrder(listed.flat());
  }

  #filesIn(remote: RemoteContainer, stats: FileStats): readonly LogFile[] {
    return Object.entries(stats).flatMap(([name, stat]) => {
      const named = parseLogName(remote.container, name);
      const { bytes, modified_at_ms: writtenAtMs = 0, inode, is_dir: isFolder } = stat;
      if (named === undefined || isFolder || bytes === undefined) return [];
      const identity = `${remote.host}/${remote.container}/${inode ?? name}`;
      const file: RemoteFile = {
        ...named,
        remote,
        inode,
        identity,
        writtenAtMs,
        bytes,
        chunkBytes: CHUNK_BYTES,
        read: (offset, length) => this.#read(file, { offset, length }),
      };
      return [file];
    });
  }

  async #read(file: RemoteFile, range: FileRange): Promise<Uint8Array | undefined> {
    const { base, inode, remote } = file;
    for (let older = 0; older < ROTATIONS_SEARCHED_MAX; older += 1) {
      const name = nameAt(base, file.age + older);
      const bytes = await this.#ask(remote, () => download(remote.shell, name, range));
      // A shell that tells no inodes serves what has the name.
      if (inode === undefined) return bytes;
      if (bytes === undefined) continue;
      const stats = await this.#statsFromNow(remote);
      if (stats[name]?.inode === inode) return bytes;
    }
    return undefined;
  }

  /** Shared by all who ask before it begins: each wants to know how it is after now. */
  #statsFromNow(remote: RemoteContainer): Promise<FileStats> {
    const looks = this.#looks.get(remote.container) ?? new SharedLooks(() => this.#stats(remote));
    this.#looks.set(remote.container, looks);
    return looks.next();
  }

  async #stats(remote: RemoteContainer): Promise<FileStats> {
    return (await this.#ask(remote, () => remote.shell.fileStats(LOG_FOLDER))) ?? {};
  }

  #noteSilence(remote: RemoteContainer, reason: string): void {
    const { clock, patienceMs, onSilent } = this.#options;
    const { container } = remote;
    const sinceMs = this.#silentSinceMs.get(container) ?? clock.now();
    this.#silentSinceMs.set(container, sinceMs);
    if (this.#told.has(container) || clock.now() - sinceMs < patienceMs) return;
    this.#told.add(container);
    onSilent(remote, reason);
  }

  /**
   * Undefined when there is no such file: not yet, or not any more.
   *
   * @throws EngineError CONNECTION_LOST (H2).
   */
  async #ask<Result>(
    remote: RemoteContainer,
    ask: () => Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      const result = await ask();
      this.#silentSinceMs.delete(remote.container);
      this.#told.delete(remote.container);
      return result;
    } catch (cause) {
      if (hasCode(cause, 'INVALID_ARGUMENT')) return undefined;
      const reason = messageOf(cause);
      this.#noteSilence(remote, reason);
      throw environmentError('CONNECTION_LOST', reason, { retryable: true, cause });
    }
  }
}

/** One look at a time, and never one that had begun before it was asked for. */
class SharedLooks {
  readonly #look: () => Promise<FileStats>;
  #underWay: Promise<unknown> = Promise.resolve();
  #waiting: Promise<FileStats> | undefined;

  constructor(look: () => Promise<FileStats>) {
    this.#look = look;
  }

  next(): Promise<FileStats> {
    this.#waiting ??= this.#begin();
    return this.#waiting;
  }

  async #begin(): Promise<FileStats> {
    await this.#underWay.catch(() => {}); // Whoever asked for it was told.
    this.#waiting = undefined;
    const look = this.#look();
    this.#underWay = look;
    return await look;
  }
}

interface RemoteFile extends LogFile, Pick<NamedLog, 'base'> {
  readonly remote: RemoteContainer;
  readonly inode: number | undefined;
}

async function download(shell: LogShell, name: string, range: FileRange): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of await shell.download(`${LOG_FOLDER}/${name}`, range)) parts.push(part);
  return Buffer.concat(parts);
}

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { environmentError, hasCode, messageOf } from '../../base/errors.ts';
import type { ContainerId, TopologyId } from '../../base/ids.ts';
import { systemCodeOf } from '../../base/system-codes.ts';
import {
  type DeadLetter,
  type DeadLetterKind,
  parseDeadLetterFile,
  parseDeadLetterFileName,
} from '../../model/dead-letter.ts';
import type { DeadLetterFolder } from '../../scheduler/create.ts';
import type { SchedulerTarget } from '../../scheduler/scheduler.ts';
import type { Cluster } from '../cluster.ts';

/** The dead letters of one task, as they were when they were read. */
export interface LetterFile {
  readonly container: ContainerId;
  readonly folder: string;
  readonly path: string;
  readonly component: string;
  readonly task: number;
  readonly letters: readonly DeadLetter[];
  /** Lines that are no letters. */
  readonly skippedLines: number;
}

export interface LetterFilter {
  /** Undefined: all. */
  readonly ids?: ReadonlySet<string> | undefined;
  readonly component?: string | undefined;
  readonly reason?: DeadLetterKind | undefined;
  /** Given up before this moment. */
  readonly beforeMs?: number | undefined;
}

const NEWLINE = 0x0a;

/**
 * Reads the files of all tasks, in the order of containers and names. A task may be writing: a line
 * that has no end yet is not there yet.
 *
 * @throws EngineError FILE_FAILED
 */
export async function readLetterFiles(
  folders: readonly DeadLetterFolder[],
): Promise<readonly LetterFile[]> {
  const files: LetterFile[] = [];
  for (const { container, path: folder } of folders) {
    const names = await unlessAbsent(folder, () => readdir(folder));
    for (const name of (names ?? []).toSorted()) {
      const owner = parseDeadLetterFileName(name);
      if (owner === undefined) continue;
      const path = join(folder, name);
      const bytes = await unlessAbsent(path, () => readFile(path));
      if (bytes === undefined) continue;
      const whole = bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1);
      files.push({ container, folder, path, ...owner, ...parseDeadLetterFile(whole) });
    }
  }
  return files;
}

/** Of a topology that runs, or where they were kept when it ended. */
export async function letterFolders(
  { deadLetters }: Pick<Cluster, 'deadLetters'>,
  target: SchedulerTarget,
  id: TopologyId | undefined,
): Promise<readonly DeadLetterFolder[]> {
  const running = await deadLetters.running(target);
  return running.length > 0 || id === undefined ? running : deadLetters.kept(id);
}

/** How many there are, for a line of another command: what cannot be read is not counted. */
export async function countLetters(folders: readonly DeadLetterFolder[]): Promise<number> {
  try {
    const files = await readLetterFiles(folders);
    return files.reduce((sum, { letters }) => sum + letters.length, 0);
  } catch (error) {
    if (hasCode(error, 'FILE_FAILED')) return 0;
    throw error;
  }
}

export function lettersText(count: number): string {
  return count === 1 ? '1 dead letter' : `${count} dead letters`;
}

/** The same files with those of their letters that are wanted; files without any are left out. */
export function chosenLetters(
  files: readonly LetterFile[],
  filter: LetterFilter,
): readonly LetterFile[] {
  return files
    .map((file) => ({ ...file, letters: file.letters.filter((one) => isWanted(one, filter)) }))
    .filter(({ letters }) => letters.length > 0);
}

function isWanted(
  { id, component, atMs, reason: { kind } }: DeadLetter,
  { ids, component: wanted, reason, beforeMs }: LetterFilter,
): boolean {
  return (
    (ids === undefined || ids.has(id)) &&
    (wanted === undefined || component === wanted) &&
    (reason === undefined || kind === reason) &&
    (beforeMs === undefined || atMs < beforeMs)
  );
}

async function unlessAbsent<Result>(
  path: string,
  read: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await read();
  } catch (cause) {
    // There are none yet, or the topology has just been taken down.
    if (systemCodeOf(cause) === 'ENOENT') return undefined;
    throw environmentError('FILE_FAILED', `cannot read ${path}: ${messageOf(cause)}`, { cause });
  }
}

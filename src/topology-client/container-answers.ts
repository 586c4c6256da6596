import { environmentError } from '../base/errors.ts';
import type { Sample, SampledTuple } from '../model/sample.ts';

/*
  What a container's shell answers, in Heron's shapes where Heron has them (heron-shell). Readers
  of untrusted text: another version of the engine may stand at the other end.
*/

/** Of what Heron's shell runs as a command. */
export interface ShellOutput {
  readonly command: string;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Text out of a file. It ends with a whole character of UTF-8 (what is no UTF-8 at all reads as
 * U+FFFD), so `offset + length` is where the next part begins. Not escaped in any way: whoever puts
 * it into a page must.
 */
export interface FileData {
  /** Where it really begins, in bytes. */
  readonly offset: number;
  /** In bytes of the file; 0 at its end. */
  readonly length: number;
  /** Absent when nothing was read. */
  readonly data?: string;
}

export interface FileStat {
  /** As `ls -l` writes it. */
  readonly formatted_stat: string;
  readonly is_dir: boolean;
  /** Percent-encoded, from the container's folder. */
  readonly path: string;
  /** Ours: in bytes. Absent in answers of Heron's shell. */
  readonly bytes?: number;
  /** Ours: milliseconds since the epoch. */
  readonly modified_at_ms?: number;
  /** Ours: the same as long as it is the same file, under whichever name; followers of logs that
   * rotate go by it. */
  readonly inode?: number;
}

/** By name, sorted; `..` comes first unless the folder is the container's own. */
export type FileStats = Readonly<Record<string, FileStat>>;

/** What an inspection has left in the container's folder. */
export interface Inspected {
  /** From the container's folder; for `ContainerClient.download`. */
  readonly file: string;
  readonly bytes: number;
}

type Members = Readonly<Record<string, unknown>>;

export function parseShellOutput(answer: unknown): ShellOutput {
  const { command, stdout, stderr } = membersOf(answer);
  if (typeof command === 'string' && typeof stdout === 'string' && typeof stderr === 'string') {
    return { command, stdout, stderr };
  }
  throw strange('the output of a command');
}

export function parseFileData(answer: unknown): FileData {
  const { offset, length, data } = membersOf(answer);
  if (typeof offset !== 'number' || typeof length !== 'number') throw strange('a part of a file');
  return { offset, length, ...(typeof data === 'string' && { data }) };
}

export function parseFileStats(answer: unknown): FileStats {
  return Object.fromEntries(
    Object.entries(membersOf(answer)).map(([name, stat]) => [name, parseFileStat(stat)]),
  );
}

export function parseInspected(answer: unknown): Inspected {
  const { file, bytes } = membersOf(answer);
  if (typeof file === 'string' && typeof bytes === 'number') return { file, bytes };
  throw strange('the file of an inspection');
}

export function parseSample(answer: unknown): Sample {
  const { tuples, fields } = membersOf(answer);
  if (!Array.isArray(tuples)) throw strange('a sample');
  return {
    tuples: tuples as readonly SampledTuple[],
    fields: membersOf(fields) as Sample['fields'],
  };
}

function parseFileStat(answer: unknown): FileStat {
  const { formatted_stat, is_dir, path, bytes, modified_at_ms, inode } = membersOf(answer);
  if (
    typeof formatted_stat !== 'string' ||
    typeof is_dir !== 'boolean' ||
    typeof path !== 'string'
  ) {
    throw strange('what is in a folder');
  }
  return {
    formatted_stat,
    is_dir,
    path,
    ...(typeof bytes === 'number' && { bytes }),
    ...(typeof modified_at_ms === 'number' && { modified_at_ms }),
    ...(typeof inode === 'number' && { inode }),
  };
}

function membersOf(answer: unknown): Members {
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) {
    return answer as Members;
  }
  throw strange('an object');
}

function strange(expected: string): Error {
  const text = `the container's shell answered something else than ${expected}`;
  return environmentError('NOT_EXPECTED', text);
}

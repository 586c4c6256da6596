import type { LineSource } from './log-line.ts';

/*
  The files in the log folder of a container, wherever it is:

    heron-stmgr-1.log       JSON lines of a process; heron-stmgr-1.log.1 is older, .2 still older
    stmgr-1.out             what the process printed
    …-metrics.jsonl         metrics, which are not for people
*/

export interface LogFile extends LineSource {
  /** The same wherever the folder is moved: container and file name without its age. */
  readonly key: string;
  /** The same under whichever name, as long as the file is there. */
  readonly identity: string;
  readonly bytes: number;
  /** 0 is the current one. It never goes down: under a known identity that is another file. */
  readonly age: number;
  /** How many are best read at a time. */
  readonly chunkBytes: number;
  /** Fewer bytes than asked for only at the end; undefined when the file has gone. */
  read(offset: number, length: number): Promise<Uint8Array | undefined>;
}

/** The age of a file that has no name any more. */
export const ROTATED_AWAY = Number.MAX_SAFE_INTEGER;

/** What a file's name says. */
export type NamedLog = Pick<LogFile, 'key' | 'container' | 'process' | 'kind' | 'age'> & {
  /** The name of the current one. */
  readonly base: string;
};

const NAME = /^((.+)\.(log|out))(?:\.(\d{1,4}))?$/;

/** Undefined for files that are no logs. */
export function parseLogName(container: number, name: string): NamedLog | undefined {
  const [, base = '', process = '', extension, age = '0'] = NAME.exec(name) ?? [];
  if (extension === undefined) return undefined;
  const kind = extension === 'log' ? 'log' : 'output';
  return { key: `${container}/${base}`, base, container, process, kind, age: Number(age) };
}

/** The name that a file has, or gets when it is rotated to this age. */
export function nameAt(base: string, age: number): string {
  return age === 0 ? base : `${base}.${age}`;
}

/** How many rotations are looked through for a file that has just been rotated. */
export const ROTATIONS_SEARCHED_MAX = 8;

/** Oldest first within a key. */
export function inOrder(files: readonly LogFile[]): readonly LogFile[] {
  return files.toSorted((a, b) => (a.key === b.key ? b.age - a.age : a.key < b.key ? -1 : 1));
}

import type { WantedProcess } from './wanted-processes.ts';

/*
  What has to be done so that what runs is what is wanted. Pure.

  Some of what a process is started with is volatile: it holds for its start and changes afterwards
  without it, so a difference is no reason to take a healthy process down. It is used when the
  process is started again for another reason. Volatile are

    --component-index   an update may move a task to another index; the plan tells it (context)
    --instance-ids      the stream manager follows the packing plan from its start on
    the heap limit      a difference in memory: it takes effect with the next start
*/

export interface ProcessChanges {
  readonly start: readonly WantedProcess[];
  /** Names of processes that nobody wants any more. */
  readonly stop: readonly string[];
  /** Wanted under the same name with another command line, volatile parts aside. */
  readonly replace: readonly WantedProcess[];
  /** Wanted as they are; their volatile parts may be other ones. */
  readonly keep: readonly WantedProcess[];
}

const VOLATILE_FLAGS = ['--component-index=', '--instance-ids='];

/** Compares by name, then by command line. What is equal is left alone. */
export function processChanges(
  present: readonly WantedProcess[],
  wanted: readonly WantedProcess[],
): ProcessChanges {
  const presentByName = new Map(present.map((process) => [process.name, process]));
  const wantedNames = new Set(wanted.map(({ name }) => name));
  const isKept = (process: WantedProcess): boolean => {
    const other = presentByName.get(process.name);
    return other !== undefined && isSameCommand(process, other);
  };
  const known = wanted.filter(({ name }) => presentByName.has(name));
  return {
    start: wanted.filter(({ name }) => !presentByName.has(name)),
    stop: present.map(({ name }) => name).filter((name) => !wantedNames.has(name)),
    replace: known.filter((process) => !isKept(process)),
    keep: known.filter(isKept),
  };
}

function isSameCommand(one: WantedProcess, other: WantedProcess): boolean {
  const [flags, others] = [lastingFlags(one), lastingFlags(other)];
  return (
    one.entry === other.entry &&
    flags.length === others.length &&
    flags.every((flag, index) => flag === others[index])
  );
}

function lastingFlags({ flags }: WantedProcess): readonly string[] {
  return flags.filter((flag) => !VOLATILE_FLAGS.some((start) => flag.startsWith(start)));
}

import type { WantedProcess } from './wanted-processes.ts';

/** What has to be done so that what runs is what is wanted. */
export interface ProcessChanges {
  readonly start: readonly WantedProcess[];
  /** Names of processes that nobody wants any more. */
  readonly stop: readonly string[];
  /** Wanted under the same name with another command line. */
  readonly replace: readonly WantedProcess[];
}

/** Pure: compares by name, then by command line. What is equal is left alone. */
export function processChanges(
  present: readonly WantedProcess[],
  wanted: readonly WantedProcess[],
): ProcessChanges {
  const presentByName = new Map(present.map((process) => [process.name, process]));
  const wantedNames = new Set(wanted.map(({ name }) => name));
  return {
    start: wanted.filter(({ name }) => !presentByName.has(name)),
    stop: present.map(({ name }) => name).filter((name) => !wantedNames.has(name)),
    replace: wanted.filter((process) => {
      const other = presentByName.get(process.name);
      return other !== undefined && !isSameCommand(process, other);
    }),
  };
}

function isSameCommand(one: WantedProcess, other: WantedProcess): boolean {
  return (
    one.entry === other.entry &&
    one.heapLimitMb === other.heapLimitMb &&
    one.flags.length === other.flags.length &&
    one.flags.every((flag, index) => flag === other.flags[index])
  );
}

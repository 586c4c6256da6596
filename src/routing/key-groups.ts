import { assert } from '../base/assert.ts';
import type { TaskId } from '../base/ids.ts';

/*
  Key groups: the unit in which keyed state moves when parallelism changes.

      hash of the key ──mod G──> group ──contiguous ranges──> task

  K1. The group of a key depends on the key alone, never on how many tasks there are.
  K2. Each task owns one contiguous range of groups; all ranges together are 0 to G - 1.
  K3. With as many groups as tasks or more, every task owns at least one group.
*/

/** Folds the hash of one more key field into the hash of those before it; order matters. */
export function combineHashes(before: number, next: number): number {
  const mixed = Math.imul(Math.imul(before, 31) + next, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

/** The group of a key's 32-bit hash, whatever its sign. */
export function keyGroupOf(hash: number, keyGroups: number): number {
  return (hash >>> 0) % keyGroups;
}

/** Which of `taskCount` tasks, in ascending order of their ids, owns a group. */
export function taskIndexOfKeyGroup(group: number, taskCount: number, keyGroups: number): number {
  return Math.floor((group * taskCount) / keyGroups);
}

/** The owner of every group. `tasks` ascend. */
export function ownersOfKeyGroups(tasks: readonly TaskId[], keyGroups: number): Int32Array {
  assert(tasks.length >= 1 && tasks.length <= keyGroups, 'each task owns at least one key group');
  return Int32Array.from(
    { length: keyGroups },
    (_, group) => tasks[taskIndexOfKeyGroup(group, tasks.length, keyGroups)] as number,
  );
}

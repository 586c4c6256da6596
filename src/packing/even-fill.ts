import { assert } from '../base/assert.ts';
import type { ContainerId } from '../base/ids.ts';
import type { PlacedContainer, PlacedTask } from './assemble-plan.ts';

/** A container that is being filled. */
export interface FillingContainer {
  readonly id: ContainerId;
  readonly tasks: PlacedTask[];
}

export function toFill(containers: readonly PlacedContainer[]): readonly FillingContainer[] {
  return containers.map(({ id, tasks }) => ({ id, tasks: [...tasks] }));
}

/** Each task goes to a container that has fewest, the first of these in their order. */
export function fillEvenly(
  containers: readonly FillingContainer[],
  tasks: readonly PlacedTask[],
): void {
  assert(containers.length > 0, 'there is a container to fill');
  const waiting = tasks.values();
  let level = containers.reduce(
    (least, container) => Math.min(least, container.tasks.length),
    Number.POSITIVE_INFINITY,
  );
  for (;;) {
    for (const container of containers) {
      if (container.tasks.length > level) continue;
      const next = waiting.next();
      if (next.done === true) return;
      container.tasks.push(next.value);
    }
    level += 1;
  }
}

/**
 * Takes away what is above an even share of `total`, and returns it: the newest tasks of each
 * container. The first containers of the list keep one more where the shares are not whole.
 */
export function trimTo(
  containers: readonly FillingContainer[],
  total: number,
): readonly PlacedTask[] {
  const share = Math.floor(total / containers.length);
  const oneMore = total % containers.length;
  return containers.flatMap(({ tasks }, position) => {
    const kept = share + (position < oneMore ? 1 : 0);
    tasks.sort((left, right) => left.task - right.task);
    return tasks.splice(kept);
  });
}

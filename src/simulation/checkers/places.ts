import {
  containerId,
  instanceIdOf,
  streamManagerIdOf,
  type TaskId,
  taskId,
} from '../../base/ids.ts';
import { assertDefined } from '../../base/assert.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';

/** Where a task runs: names of processes as the executor gives them. */
export interface Place {
  readonly instance: string;
  readonly streamManager: string;
  readonly container: number;
}

/** Names and places of all processes that carry data. */
export class Places {
  readonly #places = new Map<TaskId, Place>();
  /** Instances and stream managers. */
  readonly dataProcesses: readonly string[];

  constructor(packing: PackingPlan) {
    for (const { id, instances } of packing.containers) {
      for (const { component, task } of instances) {
        this.#places.set(task, {
          instance: instanceIdOf(id, component, task),
          streamManager: streamManagerIdOf(id),
          container: id,
        });
      }
    }
    const places = [...this.#places.values()];
    this.dataProcesses = [
      ...new Set(places.flatMap(({ instance, streamManager }) => [instance, streamManager])),
    ];
  }

  of(task: TaskId): Place {
    return assertDefined(this.#places.get(task), 'user code runs in tasks of the plan');
  }

  /** The task of an instance; undefined for other processes. */
  taskOf(process: string): TaskId | undefined {
    for (const [task, { instance }] of this.#places) if (instance === process) return task;
    return undefined;
  }

  /** The processes that a tuple passes on its way. */
  wayOf(from: TaskId, to: TaskId): readonly string[] {
    const [source, target] = [this.of(from), this.of(to)];
    return [source.instance, source.streamManager, target.streamManager, target.instance];
  }

  /** The stream manager that shares a container with a process that carries data. */
  streamManagerOf(process: string): string | undefined {
    const digits = /^(?:stmgr-|container_)(\d+)/.exec(process)?.[1];
    return digits === undefined ? undefined : streamManagerIdOf(containerId(Number(digits)));
  }
}

/** `container_1_words_3` is task 3; undefined for other processes. */
export function taskOfInstance(name: string): TaskId | undefined {
  const digits = /^container_\d+_.*_(\d+)$/.exec(name)?.[1];
  return digits === undefined ? undefined : taskId(Number(digits));
}

import { assertDefined } from '../../base/assert.ts';
import type { TaskId } from '../../base/ids.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';
import type { Emitted } from '../workload/ledger.ts';
import type {
  GroupingDescription,
  KeyField,
  WorkloadDescription,
} from '../workload/workload-description.ts';

/*
  Where tuples may go, worked out from the workload and the packing plan alone. On purpose a second
  model beside `routing/`: simple, slow, and without its key groups, so that a mistake there does
  not repeat itself here.
*/

/** One bolt that reads a stream. */
export interface Reader {
  readonly bolt: string;
  readonly grouping: GroupingDescription;
  /** Its tasks, ascending. */
  readonly tasks: readonly TaskId[];
}

export class ExpectedRouting {
  readonly #readers = new Map<string, Reader[]>();
  readonly #components = new Map<TaskId, string>();

  constructor(workload: WorkloadDescription, packing: PackingPlan) {
    for (const { instances } of packing.containers) {
      for (const { task, component } of instances) this.#components.set(task, component);
    }
    for (const { name, inputs } of workload.bolts) {
      const tasks = this.tasksOf(name);
      for (const { component, stream, grouping } of inputs) {
        const key = `${component} ${stream}`;
        const readers = this.#readers.get(key) ?? [];
        readers.push({ bolt: name, grouping, tasks });
        this.#readers.set(key, readers);
      }
    }
  }

  tasksOf(component: string): readonly TaskId[] {
    return [...this.#components]
      .filter(([, name]) => name === component)
      .map(([task]) => task)
      .toSorted((a, b) => a - b);
  }

  get tasks(): readonly TaskId[] {
    return [...this.#components.keys()];
  }

  componentOf(task: TaskId): string {
    return assertDefined(this.#components.get(task), 'user code runs in tasks of the plan');
  }

  readersOf(component: string, stream: string): readonly Reader[] {
    return this.#readers.get(`${component} ${stream}`) ?? [];
  }
}

/** How many tasks of a reader get each tuple. */
export function copiesFor({ grouping, tasks }: Reader): number {
  return grouping.kind === 'all' ? tasks.length : 1;
}

/** The tasks of a reader that may get a tuple, as far as its grouping alone says. */
export function allowedTasks({ grouping, tasks }: Reader): readonly TaskId[] {
  return grouping.kind === 'global' ? tasks.slice(0, 1) : tasks;
}

/** What must go to one task: the reader and the values of its key. Undefined without a key. */
export function keyOf(
  { bolt, grouping }: Reader,
  source: { readonly component: string },
  emitted: Emitted,
): string | undefined {
  if (grouping.kind !== 'fields') return undefined;
  const value = (field: KeyField): number =>
    field === 'first' ? emitted.firstKey : emitted.secondKey;
  const values = grouping.fields.map(value).join(',');
  return `${source.component} ${emitted.stream} → ${bolt} ${grouping.fields.join(',')}=${values}`;
}

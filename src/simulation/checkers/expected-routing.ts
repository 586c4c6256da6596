import { assertDefined, unreachable } from '../../base/assert.ts';
import type { TaskId } from '../../base/ids.ts';
import type { InstancePlan } from '../../model/packing-plan.ts';
import type { Emitted } from '../workload/ledger.ts';
import { chosenTasks } from '../workload/task-choice.ts';
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

/** A tuple's number, and the task that emitted it. */
export interface RoutedTuple {
  readonly tuple: number;
  readonly task: TaskId;
}

/** What routing needs of a plan. */
export interface PlacedTasks {
  readonly containers: readonly {
    readonly id: number;
    readonly instances: readonly Pick<InstancePlan, 'task' | 'component' | 'isRetiring'>[];
  }[];
}

export class ExpectedRouting {
  readonly #readers = new Map<string, Reader[]>();
  readonly #components = new Map<TaskId, string>();
  readonly #containers = new Map<TaskId, number>();
  readonly #retiring = new Set<TaskId>();

  constructor(workload: WorkloadDescription, packing: PlacedTasks) {
    for (const { id, instances } of packing.containers) {
      for (const { task, component, isRetiring } of instances) {
        this.#components.set(task, component);
        this.#containers.set(task, id);
        if (isRetiring === true) this.#retiring.add(task);
      }
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

  /** Those that tuples are routed to: without those that retire. */
  tasksOf(component: string): readonly TaskId[] {
    return [...this.#components]
      .filter(([task, name]) => name === component && !this.#retiring.has(task))
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

  /** The tasks of a reader that may get a tuple, as far as its grouping alone says. */
  allowedTasks({ grouping, tasks }: Reader, { tuple, task }: RoutedTuple): readonly TaskId[] {
    switch (grouping.kind) {
      case 'global':
        return tasks.slice(0, 1);
      case 'direct':
        return chosenTasks(tuple, tasks);
      case 'custom':
        return chosenTasks(tuple, tasks, grouping.copies).toSorted((a, b) => a - b);
      case 'local-or-shuffle': {
        const container = this.#containers.get(task);
        const local = tasks.filter((candidate) => this.#containers.get(candidate) === container);
        return local.length === 0 ? tasks : local;
      }
      case 'shuffle':
      case 'none':
      case 'fields':
      case 'all':
        return tasks;
      default:
        return unreachable(grouping);
    }
  }
}

/** Whether all tasks that may get a tuple have to get it; otherwise one of them has to. */
export function isForEach({ grouping: { kind } }: Reader): boolean {
  return kind === 'all' || kind === 'custom' || kind === 'direct';
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

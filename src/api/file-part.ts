import type { TaskId } from '../base/ids.ts';
import type { Assignment, SharedFile } from './file-share.ts';
import type { TopologyContext } from './topology-context.ts';

/** Which files of a source are those of one task, by the plan as its context shows it. */
export class FilePart {
  readonly #context: TopologyContext;
  readonly #all: readonly string[];
  readonly #hasSharedFolder: boolean;

  /** `hasSharedFolder`: the author has named a folder of positions, which all tasks reach. */
  constructor(context: TopologyContext, all: readonly string[], hasSharedFolder: boolean) {
    this.#context = context;
    this.#all = all;
    this.#hasSharedFolder = hasSharedFolder;
  }

  assignment(): Assignment {
    const { taskIndex, parallelism, isRetiring } = this.#context;
    const paths = isRetiring
      ? []
      : this.#all.filter((_, index) => index % parallelism === taskIndex);
    const tasks = this.tasks();
    return { paths, isCollective: tasks.length > 1 && this.#isSharedBy(tasks) };
  }

  /** All tasks of the component, also those that an update takes away. */
  tasks(): readonly TaskId[] {
    const { componentName } = this.#context;
    return [
      ...this.#context.componentTasks(componentName),
      ...this.#context.retiringTasks(componentName),
    ];
  }

  /** What to say of a file that goes to another task before it is read to its end, if anything. */
  problemOfLeaving({ path, offset }: Pick<SharedFile, 'path' | 'offset'>): string | undefined {
    const { componentName, parallelism } = this.#context;
    const index = this.#all.indexOf(path) % parallelism;
    const reader = this.#context.componentTasks(componentName)[index];
    if (reader === undefined || this.#isSharedBy([reader])) return undefined;
    return (
      `${path}, read up to byte ${offset}, goes to task ${reader} in container ` +
      `${this.#context.containerOf(reader)}, which does not see that: it begins where that ` +
      'container has left the file, or at its start, and not at all if its own input has ended; ' +
      'the option `positions` of the file source should name a folder that all tasks share'
    );
  }

  /** Whether the folder of positions is one for these tasks and this one. */
  #isSharedBy(tasks: readonly TaskId[]): boolean {
    const { taskId } = this.#context;
    const own = this.#context.containerOf(taskId);
    return this.#hasSharedFolder || tasks.every((task) => this.#context.containerOf(task) === own);
  }
}

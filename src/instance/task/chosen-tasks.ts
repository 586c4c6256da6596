import type { CustomGrouping, DeclaredCustomGrouping } from '../../api/custom-grouping.ts';
import type { TopologyContext } from '../../api/topology-context.ts';
import { assertDefined } from '../../base/assert.ts';
import { userError } from '../../base/errors.ts';
import type { ComponentName, StreamName } from '../../base/ids.ts';
import type { PlanIndex } from '../../model/plan-index.ts';

interface CustomReader {
  readonly bolt: ComponentName;
  readonly grouping: CustomGrouping;
  tasks: readonly number[];
}

/**
 * The tasks of one stream that this side chooses: those of bolts that read it by a custom grouping,
 * whose code runs here, and by direct grouping, which the component names itself. Stream managers
 * deliver to what the tuple names.
 *
 * T1. A tuple names tasks of bolts that read its stream this way, and no others: what the author
 *     gets wrong is refused inside `emit`.
 * T2. What the component may name directly is what its context shows, which is the newest plan at
 *     any moment. A task that it has once been right to name is no mistake: the component may have
 *     looked before an update took that away. Stream managers then fail the tuple.
 * T3. A custom grouping is asked for the tasks that it was last told.
 */
export class ChosenTasks {
  readonly #component: ComponentName;
  readonly #stream: StreamName;
  readonly #isDirect: boolean;
  readonly #custom: readonly CustomReader[];
  #direct: ReadonlySet<number>;
  /** Those of earlier plans, which are not named in refusals (T2). */
  #onceDirect: ReadonlySet<number> = new Set();

  /** Undefined when stream managers choose all tasks of the stream. */
  static of(
    plan: PlanIndex,
    component: ComponentName,
    stream: StreamName,
    declared: readonly DeclaredCustomGrouping[],
  ): ChosenTasks | undefined {
    const isChosenHere = plan
      .consumersOf(component, stream)
      .some(({ grouping }) => grouping.kind === 'direct' || grouping.kind === 'custom');
    return isChosenHere ? new ChosenTasks(plan, component, stream, declared) : undefined;
  }

  private constructor(
    plan: PlanIndex,
    component: ComponentName,
    stream: StreamName,
    declared: readonly DeclaredCustomGrouping[],
  ) {
    const consumers = plan.consumersOf(component, stream);
    this.#component = component;
    this.#stream = stream;
    this.#isDirect = consumers.some(({ grouping }) => grouping.kind === 'direct');
    this.#custom = consumers
      .filter(({ grouping }) => grouping.kind === 'custom')
      .map(({ bolt }) => {
        const found = declared.find(
          (one) => one.component === component && one.stream === stream && one.bolt === bolt.name,
        );
        const { make } = assertDefined(found, 'a topology that equals the stored one has its code');
        return { bolt: bolt.name, grouping: make(), tasks: [] };
      });
    this.#direct = this.#directTasks(plan);
  }

  /** The plan is another one from now on (T2). */
  follow(plan: PlanIndex): void {
    this.#onceDirect = new Set([...this.#onceDirect, ...this.#direct]);
    this.#direct = this.#directTasks(plan);
  }

  /** Tells the custom groupings of their tasks, when these have changed. Runs the author's code. */
  update(plan: PlanIndex, context: TopologyContext): void {
    for (const reader of this.#custom) {
      const targetTasks = plan.tasksOf(reader.bolt);
      if (String(targetTasks) === String(reader.tasks)) continue;
      reader.tasks = [...targetTasks];
      reader.grouping.prepare(context, {
        component: this.#component,
        stream: this.#stream,
        targetTasks,
      });
    }
  }

  /**
   * Where a tuple that names no task goes.
   *
   * @throws EngineError INVALID_ARGUMENT when it has to name one, or when a custom grouping chooses
   *   something else than tasks of its bolt.
   */
  choose(values: readonly unknown[]): readonly number[] {
    if (this.#isDirect) {
      throw this.#refused('is read by a direct grouping: use emitDirect, which names the task');
    }
    const [only, ...others] = this.#custom;
    if (only === undefined) return [];
    const tasks = this.#chosenBy(only, values);
    return others.length === 0
      ? tasks
      : [...tasks, ...others.flatMap((reader) => this.#chosenBy(reader, values))];
  }

  /** @throws EngineError INVALID_ARGUMENT when the task does not read the stream directly. */
  checkDirect(task: number): void {
    if (this.#direct.has(task) || this.#onceDirect.has(task)) return;
    const known = this.#direct.size === 0 ? '' : `, but ${[...this.#direct].join(', ')}`;
    const what = this.#direct.size === 0 ? 'by no task' : `not by task ${task}`;
    throw this.#refused(`is read ${what} by direct grouping${known}`);
  }

  #chosenBy({ bolt, grouping, tasks }: CustomReader, values: readonly unknown[]) {
    const chosen: unknown = grouping.chooseTasks(values);
    if (!Array.isArray(chosen)) {
      throw this.#refused(
        `: the custom grouping of '${bolt}' has to return a list of tasks, not ${String(chosen)}`,
      );
    }
    for (const task of chosen as readonly number[]) {
      if (tasks.includes(task)) continue;
      throw this.#refused(
        `: the custom grouping of '${bolt}' chose task ${task}; its tasks are ${tasks.join(', ')}`,
      );
    }
    return chosen as readonly number[];
  }

  #refused(why: string): Error {
    const gap = why.startsWith(':') ? '' : ' ';
    const where = `stream '${this.#stream}' of '${this.#component}'`;
    return userError('INVALID_ARGUMENT', `${where}${gap}${why}`);
  }

  #directTasks(plan: PlanIndex): ReadonlySet<number> {
    return new Set(
      plan
        .consumersOf(this.#component, this.#stream)
        .filter(({ grouping }) => grouping.kind === 'direct')
        .flatMap(({ bolt }) => plan.tasksOf(bolt.name)),
    );
  }
}

/** For a stream that nobody reads by direct grouping. */
export function notDirect(component: ComponentName, stream: StreamName): Error {
  return userError(
    'INVALID_ARGUMENT',
    `stream '${stream}' of '${component}' is not read by direct grouping: use emit, or wire a ` +
      'bolt to it with directGrouping',
  );
}

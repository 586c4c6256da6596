import type { AnyComponent } from '../api/component-runtime.ts';
import type { BuiltTopology } from '../api/topology.ts';
import { assertDefined } from '../base/assert.ts';
import { userError } from '../base/errors.ts';
import { instanceIdOf } from '../base/ids.ts';
import type { CompletionResult } from '../model/completion.ts';
import { didYouMean } from '../model/nearest.ts';
import { SimulatedCluster } from '../simulation/cluster/simulated-cluster.ts';
import type { Kernel } from '../simulation/kernel/kernel.ts';
import type { ExitRecord } from '../simulation/machine/simulated-machine.ts';
import type { LoggedLine } from './observed-log.ts';
import { TopologyObserver } from './observed-topology.ts';
import { notFinished, RunDriver } from './run-driver.ts';
import { declaredComponent } from './stand-in-components.ts';
import type {
  EmittedTuple,
  ObservedError,
  ReceivedTuple,
  SettledMessage,
  TaskHistory,
} from './task-history.ts';
import type { RealAccess } from './user-code.ts';

/** Real processes take some 40 ms to start; here nobody waits for one. */
const PROCESS_START_MS = 1;
/** Ample for a start; simulated. */
const START_WITHIN_MS = 60_000;
/** A component that fails as often will not open. */
const OPENS_MAX = 5;

export interface TopologyRunOptions {
  readonly kernel: Kernel;
  readonly allow: readonly RealAccess[];
  readonly active: boolean;
}

/** Which of a component's tuples are asked for: all of them unless something is set. */
export interface TupleFilter {
  readonly stream?: string;
  readonly taskIndex?: number;
}

/** How a topology came to its end. */
export interface CompletedRun {
  readonly result: CompletionResult;
  /** The processes that ended on the way, each of which may have cost tuples. */
  readonly losses: readonly ExitRecord[];
}

interface Place {
  readonly component: string;
  readonly taskIndex: number;
}

/** A topology that runs inside a test; see `testTopology`. */
export class TopologyRun implements AsyncDisposable {
  readonly #built: BuiltTopology;
  readonly #options: TopologyRunOptions;
  readonly #cluster: SimulatedCluster;
  readonly #driver: RunDriver;
  readonly #observer: TopologyObserver;
  readonly #logs: LoggedLine[] = [];
  /** By the name of the instance's process. */
  readonly #places = new Map<string, Place>();

  /** Made by `testTopology` only. */
  constructor(built: BuiltTopology, options: TopologyRunOptions) {
    const { kernel, allow } = options;
    this.#built = built;
    this.#options = options;
    this.#driver = new RunDriver(kernel);
    this.#cluster = new SimulatedCluster({ kernel, quickStart: true, startMs: PROCESS_START_MS });
    this.#observer = new TopologyObserver({
      kernel,
      allow,
      nowMs: () => this.nowMs,
      taskIndexOf: (instance) => this.#places.get(instance)?.taskIndex,
      kill: (instance) => void this.#cluster.kill(instance),
    });
    this.#cluster.machine.onLogLine((_process, line) => this.#logs.push(line));
  }

  /** For `testTopology`. */
  async start(): Promise<void> {
    const built = this.#observer.observed(this.#built);
    await this.#command(
      () => this.#cluster.submit(built, { activate: this.#options.active }),
      () => {
        this.#findPlaces();
      },
    );
    const isOpen = ({ component, taskIndex }: Place): boolean =>
      this.#observer.of(component, taskIndex).isOpen;
    const isHopeless = (): boolean =>
      this.#observer.histories.some((task) => !task.isOpen && task.starts.length > OPENS_MAX);
    const waitsFor = (): string => this.#report('not all components are open');
    const areOpen = (): boolean => [...this.#places.values()].every(isOpen);
    await this.#driver.reach(() => isHopeless() || areOpen(), {
      waitsFor,
      withinMs: START_WITHIN_MS,
    });
    if (!areOpen()) throw notFinished(`${waitsFor()}, after ${OPENS_MAX} starts`);
  }

  /** Simulated milliseconds since the start of the run. */
  get nowMs(): number {
    return this.#options.kernel.nowMs;
  }

  /**
   * Runs until all input has ended and has been processed, and the topology has gone.
   *
   * @param options.withinMs Simulated milliseconds; ten minutes unless set.
   * @throws EngineError RUN_NOT_FINISHED that says which components are not done, and why.
   */
  async toCompletion({ withinMs }: { readonly withinMs?: number } = {}): Promise<CompletedRun> {
    await this.#driver.reach(
      () => this.#cluster.isGone && this.#cluster.completion() !== undefined,
      {
        waitsFor: () => this.#report('the topology has not completed'),
        ...(withinMs !== undefined && { withinMs }),
      },
    );
    const { result, completedAtMs } = assertDefined(this.#cluster.completion(), 'it has completed');
    const wallOffsetMs = this.#cluster.machine.wallClock.at(0);
    const losses = this.exits.filter(({ atMs }) => atMs < completedAtMs - wallOffsetMs);
    return { result: losses.length > 0 ? 'completed-with-losses' : result, losses };
  }

  /** Moves simulated time on, and runs what happens meanwhile. */
  async advance(ms: number): Promise<void> {
    await this.#driver.advance(ms);
  }

  /**
   * Runs until a condition holds, which is asked after each event.
   *
   * @param options.withinMs Simulated milliseconds; ten minutes unless set.
   * @throws EngineError RUN_NOT_FINISHED when it does not come to hold.
   */
  async until(
    condition: () => boolean,
    { withinMs }: { readonly withinMs?: number } = {},
  ): Promise<void> {
    await this.#driver.reach(condition, {
      waitsFor: () => this.#report('the condition does not hold'),
      ...(withinMs !== undefined && { withinMs }),
    });
  }

  /**
   * Kills the process of a task, as `kill -9` does; another one is started in its place.
   *
   * @throws EngineError INVALID_ARGUMENT when there is no such task, or its process is not running.
   */
  kill(component: string, taskIndex = 0): void {
    this.#checkTask(component, taskIndex);
    const instance = this.#instanceOf(component, taskIndex);
    this.killProcess(assertDefined(instance, 'every task has an instance'));
  }

  /** Kills a process of the engine by its name: `stmgr-1`, or one of {@link processes}. */
  killProcess(name: string): void {
    if (this.#cluster.kill(name)) return;
    const hint = didYouMean(name, this.processes);
    throw userError('INVALID_ARGUMENT', `no process '${name}' is running${hint}`);
  }

  /** The names of the processes that run. */
  get processes(): readonly string[] {
    return this.#cluster.processes().map(({ name }) => name);
  }

  /** The processes that have ended, with the reasons, in order. */
  get exits(): readonly ExitRecord[] {
    return this.#cluster.exits();
  }

  /** `heron deactivate`: the spouts pause. */
  async deactivate(): Promise<void> {
    await this.#command(() => this.#cluster.command.deactivate());
  }

  /** `heron activate`: the spouts go on. */
  async activate(): Promise<void> {
    await this.#command(() => this.#cluster.command.activate());
  }

  /** `heron kill`: stops all components in an orderly way. */
  async stop(): Promise<void> {
    await this.#command(() => this.#cluster.command.kill());
    await this.#driver.reach(() => this.#cluster.isGone, {
      waitsFor: () => this.#report('the topology has not stopped'),
    });
  }

  /** What a component has emitted, by field: over all streams and tasks, in the order of time. */
  outputs(component: string, filter: TupleFilter = {}): readonly EmittedTuple['values'][] {
    return this.emitted(component, filter).map(({ values }) => values);
  }

  /** As {@link outputs}, with streams, message ids, anchors, tasks and times. */
  emitted(component: string, filter: TupleFilter = {}): readonly EmittedTuple[] {
    const { outputs } = declaredComponent(this.#built.topology.components, component);
    checkStream(component, filter.stream, outputs);
    return this.#collect(component, filter, ({ emitted }) => emitted);
  }

  /** What a bolt has been given, by field: over all its inputs and tasks, in the order of time. */
  received(component: string, filter: TupleFilter = {}): readonly ReceivedTuple['values'][] {
    return this.executed(component, filter).map(({ values }) => values);
  }

  /** As {@link received}, with sources, streams, tasks and times. */
  executed(component: string, filter: TupleFilter = {}): readonly ReceivedTuple[] {
    return this.#collect(component, filter, ({ received }) => received);
  }

  /**
   * What a spout was told of its messages, over all its tasks, in the order of time: acks have no
   * reason, fails have one. Under at least once that is what the topology made of them.
   */
  settled(component: string): readonly SettledMessage[] {
    return this.#historiesOf(component)
      .flatMap(({ settled }) => settled)
      .toSorted((a, b) => a.atMs - b.atMs);
  }

  /**
   * The object that runs a task, or ran it last: to look at its state. After a restart it is
   * another one.
   *
   * @example
   * ```ts
   * assert.equal(run.component(Count, 'count', 0).words, 2);
   * ```
   */
  component<Made extends AnyComponent>(
    type: abstract new (...args: never) => Made,
    component: string,
    taskIndex = 0,
  ): Made {
    this.#checkTask(component, taskIndex);
    return latestStart(this.#observer.of(component, taskIndex), type);
  }

  /** Those of all tasks of a component, in the order of the tasks. */
  components<Made extends AnyComponent>(
    type: abstract new (...args: never) => Made,
    component: string,
  ): readonly Made[] {
    return this.#historiesOf(component).map((history) => latestStart(history, type));
  }

  /** How often the tasks of a component have been started again. */
  restarts(component: string): number {
    const starts = this.#historiesOf(component).map((history) => history.starts.length - 1);
    return starts.reduce((sum, count) => sum + count, 0);
  }

  /** What all components, or one, have thrown and reported, in the order of time. */
  errors(component?: string): readonly ObservedError[] {
    const histories =
      component === undefined ? this.#observer.histories : this.#historiesOf(component);
    return histories.flatMap(({ errors }) => errors).toSorted((a, b) => a.atMs - b.atMs);
  }

  /** What has been logged by the instances of a component, or by all processes of the engine. */
  logs(component?: string): readonly LoggedLine[] {
    if (component === undefined) return this.#logs;
    declaredComponent(this.#built.topology.components, component);
    return this.#logs.filter(({ name }) => this.#places.get(name)?.component === component);
  }

  /** What has happened in the whole world, a line an event, for people. Equal in equal runs. */
  get eventLog(): string {
    return this.#options.kernel.log.text;
  }

  /** Ends everything at once. Idempotent; what has been observed can still be read. */
  async close(): Promise<void> {
    for (const process of this.#cluster.machine.processes) process.signal('SIGKILL');
    await Promise.resolve();
  }

  /** For `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #findPlaces(): void {
    for (const { id, instances } of this.#cluster.packingPlan.containers) {
      for (const { component, task, componentIndex } of instances) {
        const place = { component, taskIndex: componentIndex };
        this.#places.set(instanceIdOf(id, component, task), place);
      }
    }
  }

  /** Runs the world until a command is through. */
  async #command(begin: () => Promise<void>, onBegun: () => void = () => {}): Promise<void> {
    const command = { isOver: false };
    const over = (): void => void (command.isOver = true);
    const done = begin();
    onBegun();
    done.then(over, over);
    await this.#driver.reach(() => command.isOver, {
      waitsFor: () => this.#report('the command is not through'),
    });
    await done;
  }

  #collect<Tuple extends { readonly atMs: number; readonly stream: string }>(
    component: string,
    { stream, taskIndex }: TupleFilter,
    of: (history: TaskHistory) => readonly Tuple[],
  ): readonly Tuple[] {
    if (taskIndex !== undefined) this.#checkTask(component, taskIndex);
    return this.#historiesOf(component)
      .filter((history) => taskIndex === undefined || history.taskIndex === taskIndex)
      .flatMap((history) => of(history))
      .filter((tuple) => stream === undefined || tuple.stream === stream)
      .toSorted((a, b) => a.atMs - b.atMs);
  }

  #historiesOf(component: string): readonly TaskHistory[] {
    const { parallelism } = declaredComponent(this.#built.topology.components, component);
    return Array.from({ length: parallelism }, (_, index) => this.#observer.of(component, index));
  }

  #checkTask(component: string, taskIndex: number): void {
    const { parallelism } = declaredComponent(this.#built.topology.components, component);
    if (Number.isInteger(taskIndex) && taskIndex >= 0 && taskIndex < parallelism) return;
    const range = parallelism === 1 ? 'only task 0' : `tasks 0 to ${parallelism - 1}`;
    throw userError('INVALID_ARGUMENT', `'${component}' has ${range}, not task ${taskIndex}`);
  }

  #instanceOf(component: string, taskIndex: number): string | undefined {
    for (const [instance, place] of this.#places) {
      if (place.component === component && place.taskIndex === taskIndex) return instance;
    }
    return undefined;
  }

  /** A sentence and, a line each, what every task that is not done waits for. */
  #report(text: string): string {
    const tasks = [...this.#places].flatMap(([instance, { component, taskIndex }]) => {
      const problem = this.#observer
        .of(component, taskIndex)
        .describe(this.#cluster.process(instance) !== undefined);
      return problem === undefined ? [] : [`\n  '${component}' (task ${taskIndex}) ${problem}`];
    });
    const errors = this.errors()
      .slice(-ERRORS_SHOWN)
      .map(
        ({ component, method, error }) => `\n  ${method} of '${component}' threw: ${String(error)}`,
      );
    return [text, ...tasks, ...errors, '\n '].join('');
  }
}

const ERRORS_SHOWN = 3;

function latestStart<Made extends AnyComponent>(
  { starts, component, taskIndex }: TaskHistory,
  type: abstract new (...args: never) => Made,
): Made {
  const latest = starts.at(-1);
  if (latest instanceof type) return latest;
  const where = `'${component}' (task ${taskIndex})`;
  const problem =
    latest === undefined
      ? 'has not been started'
      : `is a ${latest.constructor.name}, not a ${type.name}`;
  throw userError('INVALID_ARGUMENT', `${where} ${problem}`);
}

function checkStream(
  component: string,
  stream: string | undefined,
  outputs: readonly { readonly stream: string }[],
): void {
  const names = outputs.map((output) => output.stream);
  if (stream === undefined || names.includes(stream)) return;
  const hint = didYouMean(stream, names);
  throw userError('UNKNOWN_STREAM', `'${component}' declares no stream '${stream}'${hint}`);
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { assertDefined } from '../base/assert.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { userError } from '../base/errors.ts';
import {
  type ComponentName,
  componentName,
  type ContainerId,
  containerOfStreamManager,
  type TaskId,
  taskId,
} from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { MultiCountMetric } from '../metrics/count-metric.ts';
import type { UserMetric } from '../metrics/user-metric.ts';
import type {
  Component,
  InputStream,
  LogicalTopology,
  OutputStream,
} from '../model/logical-topology.ts';
import type { InstanceAddress } from '../model/physical-plan.ts';
import type { PlanIndex } from '../model/plan-index.ts';
import { componentSettings } from '../model/component-settings.ts';
import type { Settings } from '../model/settings.ts';
import type {
  BoltAckInfo,
  BoltExecuteInfo,
  BoltFailInfo,
  EmitInfo,
  SpoutAckInfo,
  SpoutFailInfo,
} from './hook-info.ts';

/** What the instance gives to the context of its component. */
export interface ContextSource {
  /** May be replaced when a new plan arrives: the context always reads the newest. */
  readonly plan: PlanIndex;
  readonly task: TaskId;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  /** Where the files of the topology's archive are. */
  readonly workingDirectory: string;
  registerMetric(name: string, metric: UserMetric): void;
  /** Calls, and has what is emitted meanwhile continue a trace; absent where none is sampled. */
  inTrace?<Result>(traceparent: string | undefined, call: () => Result): Result;
  wake(): void;
  every(periodMs: number, call: () => unknown): Timer;
  after(delayMs: number, call: () => unknown): Timer;
  addHook(hook: TaskHook, context: TopologyContext): void;
}

/** A bolt that reads one of this component's streams. */
export interface TargetStream {
  readonly component: ComponentName;
  readonly input: InputStream;
}

/**
 * What a component knows about itself and its surroundings, given to `open` and `prepare`. It may
 * be kept, and shows the newest plan of the topology whenever it is asked. For the component's own
 * thread only.
 *
 * @example
 * ```ts
 * override open(context: TopologyContext): void {
 *   const mine = files.filter((_, i) => i % context.parallelism === context.taskIndex);
 *   context.log.info('reading', { files: mine.length });
 * }
 * ```
 */
export class TopologyContext {
  /** The number of this task, unique in the topology. */
  readonly taskId: TaskId;
  /** The component that this task is a copy of. */
  readonly componentName: ComponentName;
  /** Writes to this instance's log, as JSON lines. */
  readonly log: Logger;
  /**
   * Time, and timers whose callbacks run whenever the event loop turns, also while a promise of the
   * component is pending; `every` and `after` of the context wait for their turn.
   */
  readonly clock: Clock;
  /** Chance: the machine's, or in tests and simulations that of their seed. */
  readonly random: Random;
  /** The folder with the files of the topology's archive; this task may write into it. */
  readonly workingDirectory: string;
  readonly #source: ContextSource;
  /** The settings of a plan, read once. */
  #settings: { readonly plan: PlanIndex; readonly config: Settings } | undefined;
  #globalMetrics: MultiCountMetric | undefined;
  readonly #hooks: TaskHook[] = [];
  readonly #taskData = new Map<string, unknown>();

  /** Contexts are made by the engine only. */
  constructor(source: ContextSource) {
    const instance = assertDefined(
      source.plan.instanceOf(source.task),
      `task ${source.task} is in the plan that it was started with`,
    );
    this.#source = source;
    this.taskId = source.task;
    this.componentName = instance.component;
    this.log = source.log;
    this.clock = source.clock;
    this.random = source.random;
    this.workingDirectory = source.workingDirectory;
  }

  get topologyName(): string {
    return this.#source.plan.plan.topology.name;
  }

  /** New at every submit, unlike the name. */
  get topologyId(): string {
    return this.#source.plan.plan.topology.id;
  }

  /**
   * The position of this task among those of its component, from 0. An update of the topology may
   * change it; a task that {@link isRetiring} keeps the one that it had.
   */
  get taskIndex(): number {
    return this.#instance().componentIndex;
  }

  /**
   * The settings of the topology and, over them, of the component, with what has been changed while
   * the topology runs (`heron update --runtime-config`).
   */
  get config(): Settings {
    const { plan } = this.#source;
    if (this.#settings?.plan === plan) return this.#settings.config;
    const config = componentSettings(plan.plan.topology, this.#component());
    this.#settings = { plan, config };
    return config;
  }

  /**
   * Whether an update takes this task away: a spout's input ends as if it had said so, a bolt ends
   * when nothing more comes. Other tasks have its share from now on.
   */
  get isRetiring(): boolean {
    return this.#source.plan.isRetiring(this.taskId);
  }

  /** How many tasks this component has, without those that an update takes away. */
  get parallelism(): number {
    return this.#source.plan.tasksOf(this.componentName).length;
  }

  /** The streams that this component emits to, in the declared order. */
  get streams(): readonly OutputStream[] {
    return this.#component().outputs;
  }

  /** What this component reads; empty for a spout. */
  get sources(): readonly InputStream[] {
    return this.sourcesOf(this.componentName);
  }

  /** Who reads what this component emits. */
  get targets(): readonly TargetStream[] {
    return this.targetsOf(this.componentName);
  }

  /** The names of all components, spouts first. */
  get componentNames(): readonly ComponentName[] {
    return this.topology.components.map(({ name }) => name);
  }

  /**
   * The topology as it was declared, with all components, streams, groupings and settings. A
   * setting that was changed while it runs stands beside the declared one, as `<key>:runtime`.
   */
  get topology(): LogicalTopology {
    return this.#source.plan.plan.topology;
  }

  /** The component that a task is a copy of; undefined when there is no such task. */
  componentOf(task: number): ComponentName | undefined {
    return this.#source.plan.instanceOf(taskId(task))?.component;
  }

  /** The container that a task runs in; undefined when there is no such task. */
  containerOf(task: number): ContainerId | undefined {
    const instance = this.#source.plan.instanceOf(taskId(task));
    return instance && containerOfStreamManager(instance.streamManager);
  }

  /** The streams that a component emits to; empty when there is no such component. */
  streamsOf(component: string): readonly OutputStream[] {
    return this.#source.plan.component(componentName(component))?.outputs ?? [];
  }

  /** What a component reads; empty for a spout. */
  sourcesOf(component: string): readonly InputStream[] {
    const found = this.#source.plan.component(componentName(component));
    return found?.kind === 'bolt' ? found.inputs : [];
  }

  /** Who reads what a component emits. */
  targetsOf(component: string): readonly TargetStream[] {
    const { plan } = this.#source;
    return plan
      .downstreamComponents(componentName(component))
      .flatMap((bolt) =>
        bolt.inputs
          .filter((input) => input.component === component)
          .map((input) => ({ component: bolt.name, input })),
      );
  }

  /**
   * The tasks of a component in ascending order, without those that an update takes away; empty
   * when there is no such component.
   */
  componentTasks(component: string): readonly TaskId[] {
    return this.#source.plan.tasksOf(componentName(component));
  }

  /**
   * The tasks of a component that an update takes away and that still work off what they have, in
   * ascending order; empty at other times.
   */
  retiringTasks(component: string): readonly TaskId[] {
    const { plan } = this.#source;
    return plan.allTasksOf(componentName(component)).filter((task) => plan.isRetiring(task));
  }

  /**
   * Publishes a metric of this task under a name, every `heron.metrics.export.interval.ms`. Gives
   * the metric back. A name that is taken already is taken over.
   */
  registerMetric<M extends UserMetric>(name: string, metric: M): M {
    this.#source.registerMetric(name, metric);
    return metric;
  }

  /** Counts by name without registering: each is published as `__auto__/<name>`. */
  get globalMetrics(): MultiCountMetric {
    this.#globalMetrics ??= this.registerMetric('__auto__', new MultiCountMetric());
    return this.#globalMetrics;
  }

  /**
   * Calls `call`, and has what a spout emits in it continue a trace that began elsewhere: the one
   * that came with a request or a message, in W3C's form. A trace that is not sampled there is not
   * here; without one, or with one that cannot be read, `topology.trace.sample.ratio` decides. With
   * that at 0 it only calls. Must be synchronous: what is emitted after a wait is not meant.
   *
   * @example
   * ```ts
   * context.inTrace(message.headers.traceparent, () => this.emit({ order }, message.id));
   * ```
   */
  inTrace<Result>(traceparent: string | undefined, call: () => Result): Result {
    const source = this.#source;
    return source.inTrace === undefined ? call() : source.inTrace(traceparent, call);
  }

  /**
   * Says that a spout which had nothing to emit has something now: `nextTuple` is called without
   * further delay. May be called at any time, from any callback on this thread.
   */
  wake(): void {
    this.#source.wake();
  }

  /**
   * Calls every `periodMs` milliseconds, between two calls of the component, until it is cancelled
   * or the component closes. What becomes due while it waits to run is left out. A promise is
   * awaited; an error ends the instance, as one of any other method does.
   *
   * @throws EngineError INVALID_ARGUMENT for a time that is not above 0.
   */
  every(periodMs: number, call: () => unknown): Timer {
    return this.#source.every(checkedMs('every', periodMs, 1), AsyncLocalStorage.bind(call));
  }

  /** Calls once, `delayMs` milliseconds from now; otherwise as `every`. */
  after(delayMs: number, call: () => unknown): Timer {
    return this.#source.after(checkedMs('after', delayMs, 0), AsyncLocalStorage.bind(call));
  }

  /**
   * Adds a hook to this task, in `open` or `prepare`: one that is added later hears of emits, acks
   * and fails only.
   */
  addHook(hook: TaskHook): void {
    this.#source.addHook(hook, this);
    this.#hooks.push(hook);
  }

  /** The hooks that this component has added. */
  get hooks(): readonly TaskHook[] {
    return this.#hooks;
  }

  /** Keeps something for other parts of this task's code, under a name. */
  setTaskData(name: string, value: unknown): void {
    this.#taskData.set(name, value);
  }

  /** What was kept under a name; undefined when there is nothing. */
  getTaskData(name: string): unknown {
    return this.#taskData.get(name);
  }

  #instance(): InstanceAddress {
    return assertDefined(
      this.#source.plan.instanceOf(this.taskId),
      `task ${this.taskId} is in every plan that its context is given`,
    );
  }

  #component(): Component {
    return assertDefined(
      this.#source.plan.component(this.componentName),
      `component ${this.componentName} stays in the plan while it runs`,
    );
  }
}

/**
 * Watches what the components of a topology do: one hook for each task, made by what
 * `builder.addTaskHook` is given, or added by a component in `open` or `prepare`. Methods run on
 * the thread of the component inside the call that they tell of; what one throws is an error of
 * that call.
 *
 * @example
 * ```ts
 * builder.addTaskHook(() => ({
 *   boltExecute({ tuple, executeLatencyMs }) {
 *     if (executeLatencyMs > 100) console.warn('slow', tuple.values);
 *   },
 * }));
 * ```
 */
export interface TaskHook {
  /** Before `open` or `prepare`, or when the component adds the hook. */
  prepare?(context: TopologyContext): void;
  emit?(info: EmitInfo): void;
  spoutAck?(info: SpoutAckInfo): void;
  spoutFail?(info: SpoutFailInfo): void;
  boltExecute?(info: BoltExecuteInfo): void;
  boltAck?(info: BoltAckInfo): void;
  boltFail?(info: BoltFailInfo): void;
  /** After `close` or `cleanup`. */
  cleanup?(): void;
}

/** The longest wait that the platform's timers can hold. */
const LONGEST_MS = 2 ** 31 - 1;

function checkedMs(method: string, ms: number, min: number): number {
  if (ms >= min && ms <= LONGEST_MS) return ms;
  throw userError(
    'INVALID_ARGUMENT',
    `context.${method} takes ${min} to ${LONGEST_MS} milliseconds, not ${ms}`,
  );
}

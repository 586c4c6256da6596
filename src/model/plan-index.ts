import { assertDefined } from '../base/assert.ts';
import type { ComponentName, StreamManagerId, StreamName, TaskId } from '../base/ids.ts';
import type { BoltComponent, Component, Grouping } from './logical-topology.ts';
import type { InstanceAddress, PhysicalPlan, StreamManagerAddress } from './physical-plan.ts';

/** A bolt that reads a stream, and how its tasks share the tuples. */
export interface Consumer {
  readonly bolt: BoltComponent;
  readonly grouping: Grouping;
}

/**
 * Answers questions about one physical plan. All indexes are built once, in the constructor; a new
 * plan gets a new index. What the plan does not name is undefined or an empty list, never an error.
 *
 * P1. Lists of tasks ascend: routing rests on every process seeing the same order.
 * P2. Lists of components and consumers are in the topology's order.
 * P3. Retiring tasks get no tuples that were not on their way to them, so lists to route by leave
 *     them out; their end markers and their connections go on, so all others hold them.
 */
export class PlanIndex {
  readonly plan: PhysicalPlan;
  /** The tasks that an update takes away, ascending. */
  readonly retiring: readonly TaskId[];
  readonly #components = new Map<ComponentName, Component>();
  readonly #tasks = new Map<ComponentName, TaskId[]>();
  readonly #allTasks = new Map<ComponentName, TaskId[]>();
  readonly #instances = new Map<TaskId, InstanceAddress>();
  readonly #streamManagers = new Map<StreamManagerId, StreamManagerAddress>();
  readonly #instancesByManager = new Map<StreamManagerId, InstanceAddress[]>();
  readonly #consumers = new Map<ComponentName, Map<StreamName, Consumer[]>>();

  constructor(plan: PhysicalPlan) {
    this.plan = plan;
    for (const component of plan.topology.components) {
      this.#components.set(component.name, component);
    }
    for (const manager of plan.streamManagers) this.#streamManagers.set(manager.id, manager);
    const inOrder = plan.instances.toSorted((left, right) => left.task - right.task);
    for (const instance of inOrder) {
      this.#instances.set(instance.task, instance);
      append(this.#allTasks, instance.component, instance.task);
      if (instance.isRetiring !== true) append(this.#tasks, instance.component, instance.task);
      append(this.#instancesByManager, instance.streamManager, instance);
    }
    this.retiring = inOrder.flatMap(({ task, isRetiring }) => (isRetiring === true ? [task] : []));
    for (const component of plan.topology.components) {
      if (component.kind === 'bolt') this.#addConsumer(component);
    }
  }

  component(name: ComponentName): Component | undefined {
    return this.#components.get(name);
  }

  /** The tasks of a component that stay, ascending: those that its tuples go to. */
  tasksOf(component: ComponentName): readonly TaskId[] {
    return this.#tasks.get(component) ?? [];
  }

  /** The tasks of a component, also those that are retiring, ascending. */
  allTasksOf(component: ComponentName): readonly TaskId[] {
    return this.#allTasks.get(component) ?? [];
  }

  /** False for a task that the plan does not know. */
  isRetiring(task: TaskId): boolean {
    return this.#instances.get(task)?.isRetiring === true;
  }

  instanceOf(task: TaskId): InstanceAddress | undefined {
    return this.#instances.get(task);
  }

  componentOf(task: TaskId): Component | undefined {
    const instance = this.#instances.get(task);
    return instance === undefined ? undefined : this.#components.get(instance.component);
  }

  streamManager(id: StreamManagerId): StreamManagerAddress | undefined {
    return this.#streamManagers.get(id);
  }

  /** The stream manager whose container a task runs in. */
  streamManagerOf(task: TaskId): StreamManagerAddress | undefined {
    const instance = this.#instances.get(task);
    return instance === undefined ? undefined : this.#streamManagers.get(instance.streamManager);
  }

  /** The instances of a stream manager's container, by ascending task. */
  instancesOf(manager: StreamManagerId): readonly InstanceAddress[] {
    return this.#instancesByManager.get(manager) ?? [];
  }

  /** The stream managers that this one is connected to: all others. */
  neighbours(manager: StreamManagerId): readonly StreamManagerAddress[] {
    return this.plan.streamManagers.filter(({ id }) => id !== manager);
  }

  /** Who reads a stream; a bolt that reads it twice is there twice. */
  consumersOf(component: ComponentName, stream: StreamName): readonly Consumer[] {
    return this.#consumers.get(component)?.get(stream) ?? [];
  }

  /** The components that a component reads from. */
  upstreamComponents(component: ComponentName): readonly Component[] {
    const reader = this.#components.get(component);
    if (reader?.kind !== 'bolt') return [];
    const sources = new Set(reader.inputs.map((input) => input.component));
    return [...this.#components.values()].filter(({ name }) => sources.has(name));
  }

  /** The bolts that read any stream of a component. */
  downstreamComponents(component: ComponentName): readonly BoltComponent[] {
    const streams = this.#consumers.get(component)?.values() ?? [];
    const readers = new Set([...streams].flat().map(({ bolt }) => bolt.name));
    return [...this.#components.values()].filter(
      (reader): reader is BoltComponent => reader.kind === 'bolt' && readers.has(reader.name),
    );
  }

  /** Every component whose tuples, or what is made of them, get to a component; not itself. */
  allUpstream(component: ComponentName): ReadonlySet<ComponentName> {
    return reachedFrom(component, (name) => this.upstreamComponents(name));
  }

  /** Every component that a component's tuples, or what is made of them, get to; not itself. */
  allDownstream(component: ComponentName): ReadonlySet<ComponentName> {
    return reachedFrom(component, (name) => this.downstreamComponents(name));
  }

  /** All tasks that may send to a component, retiring ones too, ascending. */
  upstreamTasks(component: ComponentName): readonly TaskId[] {
    return this.#tasksOfAll(this.upstreamComponents(component));
  }

  /** All tasks that a component may send to, retiring ones too, ascending. */
  downstreamTasks(component: ComponentName): readonly TaskId[] {
    return this.#tasksOfAll(this.downstreamComponents(component));
  }

  #tasksOfAll(components: readonly Component[]): readonly TaskId[] {
    return components.flatMap(({ name }) => this.allTasksOf(name)).toSorted((a, b) => a - b);
  }

  #addConsumer(bolt: BoltComponent): void {
    for (const { component, stream, grouping } of bolt.inputs) {
      if (!this.#consumers.has(component)) this.#consumers.set(component, new Map());
      const streams = assertDefined(this.#consumers.get(component), 'it was set just now');
      append(streams, stream, { bolt, grouping });
    }
  }
}

function reachedFrom(
  start: ComponentName,
  next: (name: ComponentName) => readonly Component[],
): ReadonlySet<ComponentName> {
  const reached = new Set(next(start).map(({ name }) => name));
  // A set that grows while it is walked over: each component is looked at once.
  for (const name of reached) for (const further of next(name)) reached.add(further.name);
  return reached;
}

function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

import { type ConfigInput, toConfigMap } from '../api/config.ts';
import type { BuiltTopology } from '../api/topology.ts';
import { userError } from '../base/errors.ts';
import {
  containerId,
  epoch,
  instanceIdOf,
  streamManagerIdOf,
  type TaskId,
  taskId,
  topologyId,
} from '../base/ids.ts';
import type { ConfigMap, TopologyState } from '../model/logical-topology.ts';
import type { InstanceAddress, PhysicalPlan } from '../model/physical-plan.ts';
import { runtimeChangeProblems, runtimeKey } from '../model/runtime-config.ts';

/** What an update changes for a component that runs alone; the rest stays as it is. */
export interface TestUpdate {
  /** How many tasks the component has from now on. */
  readonly parallelism?: number;
  /**
   * Which of them is the one in test. Where there are too few for the index that it had, the update
   * takes it away.
   */
  readonly taskIndex?: number;
  /** True: the update takes the task in test away. */
  readonly isRetiring?: boolean;
  /** Settings of the component, as `heron update --runtime-config` changes them. */
  readonly config?: ConfigInput;
  /** Settings of the topology. */
  readonly topologyConfig?: ConfigInput;
  /** How many tasks other components have: those of `directReaders`. */
  readonly readers?: Readonly<Record<string, number>>;
}

const HOST = '127.0.0.1';
const CONTAINER = containerId(1);

/**
 * The plans of a component that runs alone: all tasks of its topology are in one container,
 * numbered from 1.
 *
 * L1. Each plan has a higher number than the one before.
 * L2. A task keeps its id; none is used twice.
 */
export class LonePlans {
  /** The task in test. */
  readonly task: TaskId;
  readonly #built: BuiltTopology;
  readonly #component: string;
  /** By component, in the order of their indexes, without the one that is taken away. */
  readonly #tasks = new Map<string, readonly TaskId[]>();
  #index: number;
  #isRetiring = false;
  #state: TopologyState = 'RUNNING';
  #config: ConfigMap = new Map();
  #topologyConfig: ConfigMap = new Map();
  #version = 0;
  #lastTask = 0;

  constructor(built: BuiltTopology, component: string, taskIndex: number) {
    this.#built = built;
    this.#component = component;
    this.#index = taskIndex;
    for (const { name, parallelism } of built.topology.components) {
      this.#tasks.set(name, this.#newTasks(parallelism));
    }
    this.task = this.taskOf(component, taskIndex);
  }

  setActive(isActive: boolean): void {
    this.#state = isActive ? 'RUNNING' : 'PAUSED';
  }

  /** @throws EngineError INVALID_ARGUMENT for an update that the engine would refuse, too. */
  change(update: TestUpdate): void {
    const { parallelism, taskIndex, isRetiring, config, topologyConfig, readers = {} } = update;
    const added = this.#added(this.#component, config);
    const addedToAll = this.#added(undefined, topologyConfig);
    for (const [reader, count] of Object.entries(readers)) this.#resize(reader, count);
    if (parallelism !== undefined || taskIndex !== undefined || isRetiring === true) {
      this.#place(parallelism, taskIndex, isRetiring === true);
    }
    this.#config = new Map([...this.#config, ...added]);
    this.#topologyConfig = new Map([...this.#topologyConfig, ...addedToAll]);
  }

  next(): PhysicalPlan {
    this.#version += 1;
    const { topology } = this.#built;
    const components = topology.components.map((one) =>
      one.name === this.#component
        ? { ...one, config: new Map([...one.config, ...this.#config]) }
        : one,
    );
    const config = new Map([...topology.config, ...this.#topologyConfig]);
    const id = topologyId(`${topology.name}-in-test`);
    const streamManager = streamManagerIdOf(CONTAINER);
    return {
      epoch: epoch(this.#version),
      topology: { ...topology, id, config, components, state: this.#state },
      streamManagers: [
        {
          id: streamManager,
          host: HOST,
          dataPort: 1,
          localDataPort: 1,
          workingDirectory: '.',
          pid: 1,
          shellPort: 1,
        },
      ],
      instances: this.#instances(),
    };
  }

  /** @throws EngineError INVALID_ARGUMENT when there is none. */
  taskOf(component: string, taskIndex: number): TaskId {
    const found = this.#tasks.get(component)?.[taskIndex];
    if (found !== undefined) return found;
    throw userError('INVALID_ARGUMENT', `'${component}' has no task ${taskIndex}`);
  }

  /** All tasks that the one in test reads from. */
  upstreamTasks(): readonly TaskId[] {
    const { components } = this.#built.topology;
    const declared = components.find(({ name }) => name === this.#component);
    const inputs = declared?.kind === 'bolt' ? declared.inputs : [];
    const sources = new Set(inputs.map(({ component }) => component));
    return [...sources].flatMap((source) => this.#tasks.get(source) ?? []);
  }

  #instances(): readonly InstanceAddress[] {
    const streamManager = streamManagerIdOf(CONTAINER);
    return this.#built.topology.components.flatMap(({ name }) => {
      const tasks = (this.#tasks.get(name) ?? []).map((task, componentIndex) => ({
        id: instanceIdOf(CONTAINER, name, task),
        streamManager,
        task,
        componentIndex,
        component: name,
      }));
      if (!this.#isRetiring || name !== this.#component) return tasks;
      const { task } = this;
      const id = instanceIdOf(CONTAINER, name, task);
      const own = { id, streamManager, task, componentIndex: this.#index, component: name };
      return [...tasks, { ...own, isRetiring: true }];
    });
  }

  #place(parallelism: number | undefined, taskIndex: number | undefined, leaves: boolean): void {
    const own = this.#component;
    const others = (this.#tasks.get(own) ?? []).filter((task) => task !== this.task);
    const count = parallelism ?? this.#tasks.get(own)?.length ?? 1;
    const index = taskIndex ?? this.#index;
    if (this.#isRetiring) throw refused('its task has been taken away by an earlier update');
    if (taskIndex !== undefined && taskIndex >= count) {
      throw refused(`there is no task ${taskIndex} of ${count}`);
    }
    this.#isRetiring = leaves || index >= count;
    const wanted = this.#isRetiring ? count : count - 1;
    this.#tasks.set(own, others);
    this.#resize(own, wanted);
    if (this.#isRetiring) return;
    const placed = this.#tasks.get(own) ?? [];
    this.#tasks.set(own, placed.toSpliced(index, 0, this.task));
    this.#index = index;
  }

  #resize(component: string, count: number): void {
    const tasks = this.#tasks.get(component);
    if (tasks === undefined) throw refused(`there is no component '${component}'`);
    const kept = tasks.slice(0, count);
    this.#tasks.set(component, [...kept, ...this.#newTasks(count - kept.length)]);
  }

  #newTasks(count: number): readonly TaskId[] {
    return Array.from({ length: count }, () => {
      this.#lastTask += 1;
      return taskId(this.#lastTask);
    });
  }

  #added(component: string | undefined, config: ConfigInput = {}): ConfigMap {
    const { topology } = this.#built;
    const name = topology.components.find((one) => one.name === component)?.name;
    const changes = [...toConfigMap(config)].map(([key, value]) => ({
      component: name,
      key,
      value,
    }));
    const [problem] = runtimeChangeProblems(changes, topology);
    if (problem !== undefined) throw refused(problem);
    return new Map(changes.map(({ key, value }) => [runtimeKey(key), value]));
  }
}

function refused(why: string): Error {
  return userError('INVALID_ARGUMENT', `this update is not possible: ${why}`);
}

import { userError } from '../base/errors.ts';
import type { ComponentName, ContainerId } from '../base/ids.ts';
import type { Component, LogicalTopology } from '../model/logical-topology.ts';
import { isWithin, largestWithin, RESOURCE_UNITS, type Resource } from '../model/packing-plan.ts';
import { Settings } from '../model/settings.ts';
import type { ContainerSize, PlacedTask } from './assemble-plan.ts';
import { checkAmount } from './container-share.ts';
import { GIB, MIB, TASK_DEFAULT } from './task-defaults.ts';

/*
  What a container holds for the packings that heed limits, Heron's resource-compliant ones:

    capacity    topology.container.{cpu,ram,disk}, or room for topology.container.max.instances
                tasks of the default size
    padding     the larger of a fixed amount and topology.container.padding.percentage of the
                capacity
    task        what topology.component.{cpu,ram,disk}map say, or the default

  L1. Tasks fit into a container when they and its padding are within its capacity, for each
      resource.
  L2. A container asks for its tasks and its padding. Departs from Heron, which rounds the cores to
      whole ones, and so to less than the tasks need or to more than the limit.
*/

/** What an algorithm demands beyond the resources. */
export interface AlgorithmRules {
  readonly taskMin: Pick<Resource, 'cpuCores' | 'ramBytes'>;
  readonly isNumberOfTasksLimited: boolean;
}

/** A task that gets less has no room for its runtime; Heron's number. */
export const COMPLIANT_TASK_RAM_BYTES_MIN = 192 * MIB;
const RAM_PADDING_BYTES = GIB;
const DISK_PADDING_BYTES = GIB;
const CPU_SHARES = 1000;
const NOTHING: Resource = { cpuCores: 0, ramBytes: 0, diskBytes: 0 };
/** A quotient that is whole but for rounding stays whole. */
const QUOTIENT_ROUNDING = 1e-9;

const KEYS = {
  cpuCores: { limit: 'topology.container.cpu', component: 'topology.component.cpumap' },
  ramBytes: { limit: 'topology.container.ram', component: 'topology.component.rammap' },
  diskBytes: { limit: 'topology.container.disk', component: 'topology.component.diskmap' },
} as const;

/** Tasks that are to be placed. */
export type TasksOfComponent = Pick<Component, 'name' | 'parallelism'>;

/** A container, by what its tasks take of it. */
interface Filled {
  readonly used: Resource;
}

/** A container under construction. */
export class OpenContainer {
  readonly id: ContainerId;
  readonly tasks: PlacedTask[] = [];
  readonly #limits: ContainerLimits;
  #used = NOTHING;

  constructor(id: ContainerId, limits: ContainerLimits, tasks: readonly PlacedTask[] = []) {
    this.id = id;
    this.#limits = limits;
    for (const task of tasks) this.add(task);
  }

  /** The tasks' share, without the padding. */
  get used(): Resource {
    return this.#used;
  }

  hasRoomFor(component: ComponentName): boolean {
    const demand = this.#limits.demandOf(component);
    return (
      this.tasks.length < this.#limits.tasksMax && this.#limits.fits(sumOf(this.#used, demand))
    );
  }

  add(task: PlacedTask): void {
    this.tasks.push(task);
    this.#used = sumOf(this.#used, this.#limits.demandOf(task.component));
  }
}

export class ContainerLimits {
  readonly capacity: Resource;
  readonly padding: Resource;
  /** Infinite where the algorithm does not limit it. */
  readonly tasksMax: number;
  readonly #settings: Settings;
  readonly #taskMin: AlgorithmRules['taskMin'];
  readonly #demands: ReadonlyMap<ComponentName, Resource>;

  /** @throws EngineError INVALID_CONFIG when a task of some component fits no container. */
  constructor({ config, components }: LogicalTopology, rules: AlgorithmRules) {
    const settings = new Settings(config);
    const tasks = settings.get('topology.container.max.instances');
    this.#settings = settings;
    this.#taskMin = rules.taskMin;
    this.tasksMax = rules.isNumberOfTasksLimited ? tasks : Number.POSITIVE_INFINITY;
    this.capacity = {
      cpuCores: settings.get('topology.container.cpu') ?? TASK_DEFAULT.cpuCores * tasks,
      ramBytes: settings.get('topology.container.ram') ?? TASK_DEFAULT.ramBytes * tasks,
      diskBytes: settings.get('topology.container.disk') ?? TASK_DEFAULT.diskBytes * tasks,
    };
    this.padding = paddingOf(this.capacity, settings);
    this.#demands = new Map(components.map(({ name }) => [name, taskDemand(name, settings)]));
    for (const { name } of components) this.#checkTask(name);
  }

  demandOf(component: ComponentName): Resource {
    return this.#demands.get(component) ?? TASK_DEFAULT;
  }

  /** Whether tasks of together this size fit (L1). */
  fits(used: Resource): boolean {
    return (
      isWithin(this.capacity.cpuCores, used.cpuCores + this.padding.cpuCores) &&
      isWithin(this.capacity.ramBytes, used.ramBytes + this.padding.ramBytes) &&
      isWithin(this.capacity.diskBytes, used.diskBytes + this.padding.diskBytes)
    );
  }

  /**
   * How many containers must at least come to these, empty or not, to hold more tasks. It may take
   * more: this is where to begin to try.
   */
  moreContainersMin(added: readonly TasksOfComponent[], containers: readonly Filled[]): number {
    const byResource = RESOURCE_UNITS.map(([key]) => {
      const room = largestWithin(this.capacity[key]) - this.padding[key];
      const demand = added.reduce(
        (sum, { name, parallelism }) => sum + this.demandOf(name)[key] * parallelism,
        0,
      );
      const free = containers.reduce((sum, { used }) => sum + Math.max(room - used[key], 0), 0);
      return demand <= free ? 0 : Math.ceil((demand - free) / room - QUOTIENT_ROUNDING);
    });
    const byComponent = added.map(({ name, parallelism }) => {
      const places = containers.reduce((sum, { used }) => sum + this.#placesFor(name, used), 0);
      return Math.ceil(Math.max(parallelism - places, 0) / this.#placesFor(name, NOTHING));
    });
    return [...byResource, ...byComponent].reduce((most, number) => Math.max(most, number), 0);
  }

  /** How many tasks of a component, and nothing else, would still fit. */
  #placesFor(component: ComponentName, used: Resource): number {
    const demand = this.demandOf(component);
    const places = RESOURCE_UNITS.map(([key]) => {
      const room = largestWithin(this.capacity[key]) - this.padding[key] - used[key];
      return demand[key] === 0 ? Number.POSITIVE_INFINITY : Math.floor(room / demand[key]);
    });
    return Math.max(Math.min(...places), 0);
  }

  /**
   * What a container with these tasks asks for (L2).
   *
   * @throws EngineError INVALID_CONFIG when it is above the limits, as a container of an older plan
   *   may be whose settings have changed.
   */
  size(where: string, tasks: readonly ComponentName[]): ContainerSize {
    const demands = tasks.map((component) => this.demandOf(component));
    const used = demands.reduce(sumOf, NOTHING);
    for (const [key, unit] of RESOURCE_UNITS) {
      const needed = used[key] + this.padding[key];
      if (isWithin(this.capacity[key], needed)) continue;
      throw userError(
        'INVALID_CONFIG',
        `${where}: its tasks and the padding need ${needed} ${unit}, ${this.#has(key)}`,
      );
    }
    const wanted = sumOf(used, this.padding);
    const container = {
      // Sums of fractions may be above the limit by their last bits.
      cpuCores: Math.min(wanted.cpuCores, this.capacity.cpuCores),
      ramBytes: wanted.ramBytes,
      diskBytes: wanted.diskBytes,
    };
    return { tasks: demands, container, warnings: [] };
  }

  #checkTask(component: ComponentName): void {
    const where = `a task of '${component}'`;
    const demand = this.demandOf(component);
    for (const [key, unit] of RESOURCE_UNITS) {
      const asked = demand[key];
      const least = key === 'diskBytes' ? 0 : this.#taskMin[key];
      const needed = asked + this.padding[key];
      checkAmount(where, unit, needed);
      if (asked < least) {
        throw userError(
          'INVALID_CONFIG',
          `${where} gets ${asked} ${unit}, it needs ${least}; raise ${KEYS[key].component}`,
        );
      }
      if (isWithin(this.capacity[key], needed)) continue;
      throw userError(
        'INVALID_CONFIG',
        `${where} asks for ${asked} ${unit}, with the padding of ${this.padding[key]} it needs ` +
          `${needed}; ${this.#has(key)}; raise ${KEYS[key].limit}, or lower ` +
          `${KEYS[key].component} or the padding`,
      );
    }
  }

  #has(key: keyof Resource): string {
    const { limit } = KEYS[key];
    const has = `a container has ${this.capacity[key]}`;
    return this.#settings.text(limit) === undefined
      ? `${has} (topology.container.max.instances times the default, as ${limit} is not set)`
      : `${has} (${limit})`;
  }
}

function paddingOf({ cpuCores, ramBytes, diskBytes }: Resource, settings: Settings): Resource {
  const share = settings.get('topology.container.padding.percentage') / 100;
  const cpu = Math.floor(cpuCores * share * CPU_SHARES) / CPU_SHARES;
  const ramPadding = settings.get('topology.container.ram.padding') ?? RAM_PADDING_BYTES;
  return {
    cpuCores: Math.max(settings.get('topology.container.cpu.padding'), cpu),
    ramBytes: Math.max(ramPadding, Math.floor(ramBytes * share)),
    diskBytes: Math.max(DISK_PADDING_BYTES, Math.floor(diskBytes * share)),
  };
}

function taskDemand(component: ComponentName, settings: Settings): Resource {
  const asked = (key: keyof Resource): number =>
    settings.get(KEYS[key].component)?.get(component) ?? TASK_DEFAULT[key];
  return {
    cpuCores: asked('cpuCores'),
    ramBytes: asked('ramBytes'),
    diskBytes: asked('diskBytes'),
  };
}

function sumOf(left: Resource, right: Resource): Resource {
  return {
    cpuCores: left.cpuCores + right.cpuCores,
    ramBytes: left.ramBytes + right.ramBytes,
    diskBytes: left.diskBytes + right.diskBytes,
  };
}

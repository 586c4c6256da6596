import { assertDefined, unreachable } from '../base/assert.ts';
import type { ComponentName, TaskId } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { Component, Grouping } from '../model/logical-topology.ts';
import type { PlanIndex } from '../model/plan-index.ts';
import type { StreamHeader } from '../wire/stream-header.ts';
import { AllGrouping } from './all-grouping.ts';
import type { ConsumerGrouping, RoutableTuple } from './consumer-grouping.ts';
import type { Destinations } from './destinations.ts';
import { GlobalGrouping } from './global-grouping.ts';
import { HeronFieldsGrouping } from './heron-fields-grouping.ts';
import { KeyGroupGrouping } from './key-group-grouping.ts';
import { ShuffleGrouping } from './shuffle-grouping.ts';

/** One stream with everybody who reads it. */
export class RoutedStream {
  /** Where every tuple goes, but for tasks that it names itself; undefined when that differs. */
  readonly fixedTasks: readonly TaskId[] | undefined;
  readonly #groupings: readonly ConsumerGrouping[];
  readonly #takers: ReadonlySet<TaskId>;

  /** `takers` are the tasks that tuples may name. */
  constructor(groupings: readonly ConsumerGrouping[], takers: ReadonlySet<TaskId>) {
    this.#groupings = groupings;
    const isFixed = groupings.every(({ fixedTasks }) => fixedTasks !== undefined);
    this.fixedTasks = isFixed ? groupings.flatMap(({ fixedTasks = [] }) => fixedTasks) : undefined;
    this.#takers = takers;
  }

  /**
   * Fills in where a tuple goes: for each consumer, in the topology's order, what its grouping
   * says, then the tasks that the emitting instance chose itself (direct and custom groupings).
   * Returns how many of those get no tuples: the plan does not know them, or they are retiring.
   *
   * @throws EngineError PACKET_MALFORMED when the tuple lacks a value that decides.
   */
  route(tuple: RoutableTuple, into: Destinations): number {
    into.clear();
    for (const grouping of this.#groupings) grouping.addDestinations(tuple, into);
    let misdirected = 0;
    for (let index = 0; index < tuple.destinationCount; index += 1) {
      const task = tuple.destination(index) as TaskId;
      if (this.#takers.has(task)) into.add(task);
      else {
        into.misdirected = task;
        misdirected += 1;
      }
    }
    return misdirected;
  }
}

export interface StreamRouterOptions {
  /** `topology.key.groups` */
  readonly keyGroups: number;
  readonly random: Random;
  /** The tasks in the container of the emitting instances. */
  readonly localTasks: readonly TaskId[];
}

/**
 * Where the tuples of every stream of a topology go. The stream manager of the emitting instance
 * routes; all of them build the same router from the same plan, apart from where their round robins
 * start. Each plan has a router of its own. Tasks that retire get no tuples.
 *
 * A fields grouping hashes by the producer's language: key groups for what this engine serialized,
 * Heron's own rule for the bytes of others.
 */
export class StreamRouter {
  readonly #plan: PlanIndex;
  readonly #options: StreamRouterOptions;
  readonly #streams = new Map<StreamHeader, RoutedStream | undefined>();
  /** All tasks but those that retire. */
  readonly #takers: ReadonlySet<TaskId>;

  constructor(plan: PlanIndex, options: StreamRouterOptions) {
    this.#plan = plan;
    this.#options = options;
    const staying = plan.plan.instances.filter(({ isRetiring }) => isRetiring !== true);
    this.#takers = new Set(staying.map(({ task }) => task));
  }

  /** Undefined for a stream that nobody reads. */
  streamOf(header: StreamHeader): RoutedStream | undefined {
    const known = this.#streams.get(header);
    if (known !== undefined || this.#streams.has(header)) return known;
    const made = this.#build(header);
    this.#streams.set(header, made);
    return made;
  }

  #build({ component, stream }: StreamHeader): RoutedStream | undefined {
    const consumers = this.#plan.consumersOf(component, stream);
    const producer = this.#plan.component(component);
    const output = producer?.outputs.find((declared) => declared.stream === stream);
    if (consumers.length === 0 || producer === undefined || output === undefined) return undefined;
    const groupings = consumers.flatMap(({ bolt, grouping }) =>
      this.#groupings(grouping, producer, output.fields, bolt.name),
    );
    return new RoutedStream(groupings, this.#takers);
  }

  /** None for groupings that the emitting instance computes. */
  #groupings(
    grouping: Grouping,
    producer: Component,
    schema: readonly string[],
    consumer: ComponentName,
  ): readonly ConsumerGrouping[] {
    const tasks = this.#plan.tasksOf(consumer);
    assertDefined(tasks[0], `${consumer} has tasks in the plan`);
    const isComputedHere = grouping.kind !== 'direct' && grouping.kind !== 'custom';
    // With one task there is nothing to choose, and no tuple needs to be looked into.
    if (isComputedHere && tasks.length === 1) return [new GlobalGrouping(tasks)];
    switch (grouping.kind) {
      case 'shuffle':
      case 'none':
        return [new ShuffleGrouping(tasks, this.#options.random)];
      case 'local-or-shuffle':
        return [this.#localOrShuffle(tasks)];
      case 'all':
        return [new AllGrouping(tasks)];
      case 'global':
        return [new GlobalGrouping(tasks)];
      case 'fields':
        return producer.language === 'typescript'
          ? [new KeyGroupGrouping(tasks, schema, grouping.fields, this.#options.keyGroups)]
          : [new HeronFieldsGrouping(tasks, schema, grouping.fields)];
      case 'direct':
      case 'custom':
        return [];
      default:
        return unreachable(grouping);
    }
  }

  #localOrShuffle(tasks: readonly TaskId[]): ConsumerGrouping {
    const { localTasks, random } = this.#options;
    const local = tasks.filter((task) => localTasks.includes(task));
    if (local.length === 1) return new GlobalGrouping(local);
    return new ShuffleGrouping(local.length === 0 ? tasks : local, random);
  }
}

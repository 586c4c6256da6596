import { assertDefined } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { type ComponentName, componentName, type TaskId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { UserMetric } from '../metrics/count-metric.ts';
import type { Component, InputStream, OutputStream } from '../model/logical-topology.ts';
import type { PlanIndex } from '../model/plan-index.ts';
import { Settings } from '../model/settings.ts';

/** What the instance gives to the context of its component. */
export interface ContextSource {
  /** May be replaced when a new plan arrives: the context always reads the newest. */
  readonly plan: PlanIndex;
  readonly task: TaskId;
  readonly log: Logger;
  readonly clock: Clock;
  registerMetric(name: string, metric: UserMetric): void;
  wake(): void;
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
  /** The position of this task among those of its component, from 0. */
  readonly taskIndex: number;
  /** The settings of the topology and, over them, of the component. */
  readonly config: Settings;
  /** Writes to this instance's log, as JSON lines. */
  readonly log: Logger;
  /** Time and timers. A callback of a timer runs between two calls of the component. */
  readonly clock: Clock;
  readonly #source: ContextSource;

  /** Contexts are made by the engine only. */
  constructor(source: ContextSource) {
    const instance = assertDefined(
      source.plan.instanceOf(source.task),
      `task ${source.task} is in the plan that it was started with`,
    );
    this.#source = source;
    this.taskId = source.task;
    this.componentName = instance.component;
    this.taskIndex = instance.componentIndex;
    this.config = new Settings(source.plan.plan.topology.config, this.#component().config);
    this.log = source.log;
    this.clock = source.clock;
  }

  get topologyName(): string {
    return this.#source.plan.plan.topology.name;
  }

  /** New at every submit, unlike the name. */
  get topologyId(): string {
    return this.#source.plan.plan.topology.id;
  }

  /** How many tasks this component has. */
  get parallelism(): number {
    return this.#source.plan.tasksOf(this.componentName).length;
  }

  /** The streams that this component emits to, in the declared order. */
  get streams(): readonly OutputStream[] {
    return this.#component().outputs;
  }

  /** What this component reads; empty for a spout. */
  get sources(): readonly InputStream[] {
    const component = this.#component();
    return component.kind === 'bolt' ? component.inputs : [];
  }

  /** Who reads what this component emits. */
  get targets(): readonly TargetStream[] {
    const { plan } = this.#source;
    return plan
      .downstreamComponents(this.componentName)
      .flatMap((bolt) =>
        bolt.inputs
          .filter((input) => input.component === this.componentName)
          .map((input) => ({ component: bolt.name, input })),
      );
  }

  /** The tasks of a component in ascending order; empty when there is no such component. */
  componentTasks(component: string): readonly TaskId[] {
    return this.#source.plan.tasksOf(componentName(component));
  }

  /**
   * Publishes a metric of this task under a name, every `heron.metrics.export.interval.ms`. Gives
   * the metric back. A name that is taken already is taken over.
   */
  registerMetric<M extends UserMetric>(name: string, metric: M): M {
    this.#source.registerMetric(name, metric);
    return metric;
  }

  /**
   * Says that a spout which had nothing to emit has something now: `nextTuple` is called without
   * further delay. May be called at any time, from any callback on this thread.
   */
  wake(): void {
    this.#source.wake();
  }

  #component(): Component {
    return assertDefined(
      this.#source.plan.component(this.componentName),
      `component ${this.componentName} stays in the plan while it runs`,
    );
  }
}

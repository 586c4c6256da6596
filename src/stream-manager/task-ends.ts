import { assertDefined } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import type { TaskId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { PlanIndex } from '../model/plan-index.ts';
import { EndMarkerSet } from './end-marker-set.ts';
import { EndMarkers } from './end-markers.ts';
import type { LocalSource } from './local-source.ts';
import type { LocalTask, LocalTasks } from './local-tasks.ts';
import type { Outboxes } from './outboxes.ts';
import type { PlanChange } from './plan-change.ts';
import { RetirementWatch } from './retirement.ts';

export interface TaskEndsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly locals: LocalTasks;
  readonly outboxes: Outboxes;
  /** Seals what is open from a source to a destination, so that a marker may follow it. */
  readonly finish: (source: LocalSource, destination: TaskId) => void;
  /** A local task has sent its last tuple; said once. */
  readonly onEnded: (task: TaskId) => void;
  /** A retiring local task has ended, and nothing of it is left anywhere; said once. */
  readonly onRetired: (task: TaskId) => void;
}

/**
 * The ends of tasks: markers go behind the data of a task that has ended to everyone who reads it,
 * and behind the data for a task that retires, which gets no more. Whatever comes back, a marker is
 * sent again (end-markers.ts).
 */
export class TaskEnds {
  readonly #options: TaskEndsOptions;
  readonly #markers = new EndMarkers();
  readonly #retirement: RetirementWatch;
  #plan: PlanIndex | undefined;

  constructor(options: TaskEndsOptions) {
    this.#options = options;
    this.#retirement = new RetirementWatch(options);
  }

  /** A plan is in force, by which tuples are routed already. */
  update(plan: PlanIndex, { gone }: PlanChange): void {
    this.#plan = plan;
    for (const { task } of gone) {
      this.#markers.forget(task);
      this.#retirement.forget(task);
    }
    for (const task of plan.retiring) {
      this.#endTowards(task, plan);
      this.#watchRetirement(task, plan);
    }
  }

  /** A local task says that it has sent its last tuple. */
  handleEnd({ source }: LocalTask): void {
    const { task } = source;
    // Repeated after a reconnect: whoever needs it again has been told.
    if (!this.#markers.addLocal(task)) return;
    const { outboxes, finish, logger, onEnded } = this.#options;
    const plan = assertDefined(this.#plan, 'sets are handled by a plan');
    const component = assertDefined(plan.componentOf(task), 'which has their task');
    for (const destination of plan.downstreamTasks(component.name)) {
      if (this.#markers.hasLocalFor(task, destination)) continue;
      finish(source, destination);
      outboxes.get(destination)?.add(new EndMarkerSet(task));
    }
    logger.info('a task has ended', { task, component: component.name });
    onEnded(task);
    this.#watchRetirement(task, plan);
  }

  /** The marker of a task elsewhere has come for one of ours. */
  handleRemoteEnd(source: TaskId, destination: TaskId): void {
    this.#markers.addRemote(source, destination);
  }

  /** The way to a task is there again: it may have missed markers. */
  repeatFor(destination: TaskId): void {
    if (this.#plan === undefined) return;
    const outbox = this.#options.outboxes.get(destination);
    for (const source of this.#markers.upstreamOf(destination, this.#plan)) {
      outbox?.add(new EndMarkerSet(source));
    }
  }

  /** Whether tuples may still come here for a task: not all that send to it have ended. */
  awaitsTuplesFor(task: TaskId): boolean {
    if (this.#plan === undefined) return false;
    const { locals } = this.#options;
    const isLocal = locals.has(task);
    const passesHere = (source: TaskId): boolean => isLocal || locals.has(source);
    return this.#markers.awaitsTuplesFor(task, this.#plan, passesHere);
  }

  /** Whether a local task has sent its last tuple. */
  hasEnded(task: TaskId): boolean {
    return this.#markers.hasLocal(task);
  }

  isRetired(task: TaskId): boolean {
    return this.#retirement.isRetired(task);
  }

  /** Stops all timers; idempotent. */
  close(): void {
    this.#retirement.close();
  }

  /** From every local task to one that retires. */
  #endTowards(destination: TaskId, plan: PlanIndex): void {
    const { locals, outboxes, finish } = this.#options;
    const component = assertDefined(plan.componentOf(destination), 'plans are whole');
    for (const task of plan.upstreamTasks(component.name)) {
      const local = locals.get(task);
      if (local?.isPlanned !== true || !this.#markers.addLocalFor(task, destination)) continue;
      finish(local.source, destination);
      outboxes.get(destination)?.add(new EndMarkerSet(task));
    }
  }

  #watchRetirement(task: TaskId, plan: PlanIndex): void {
    const { locals, outboxes } = this.#options;
    const local = locals.get(task);
    if (local === undefined || !plan.isRetiring(task) || !this.#markers.hasLocal(task)) return;
    const component = assertDefined(plan.componentOf(task), 'plans are whole');
    const queues = plan
      .downstreamTasks(component.name)
      .flatMap((destination) => outboxes.get(destination) ?? []);
    this.#retirement.ended(task, local.destination, queues);
  }
}

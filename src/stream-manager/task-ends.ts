import { assertDefined } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import type { TaskId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { PlanIndex } from '../model/plan-index.ts';
import { EndMarkerSet } from './end-marker-set.ts';
import { EndMarkers, type RemoteEnd } from './end-markers.ts';
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
    for (const end of this.#markers.takeEarly(plan)) {
      this.#markers.addRemote(end.source, end.destination);
      this.#mark(end.source, end.destination);
    }
    for (const { task, isWithoutInput } of plan.plan.instances) {
      const local = isWithoutInput === true ? this.#options.locals.get(task) : undefined;
      if (local !== undefined) this.handleEnd(local);
    }
    for (const task of plan.retiring) {
      this.#endTowards(task, plan);
      this.#watchRetirement(task, plan);
    }
  }

  /** A local task says that it has sent its last tuple. */
  handleEnd({ source }: LocalTask): void {
    const { task } = source;
    const plan = assertDefined(this.#plan, 'sets are handled by a plan');
    // Repeated after a reconnect: whoever needs it again has been told.
    if (!this.#markers.addLocal(task, plan.plan.epoch)) return;
    const { finish, logger, onEnded } = this.#options;
    const component = assertDefined(plan.componentOf(task), 'which has their task');
    for (const destination of plan.downstreamTasks(component.name)) {
      if (this.#markers.hasLocalFor(task, destination)) continue;
      finish(source, destination);
      this.#mark(task, destination);
    }
    logger.info('a task has ended', { task, component: component.name });
    onEnded(task);
    this.#watchRetirement(task, plan);
  }

  /**
   * The marker of a task elsewhere has come for one of ours. False when that one is not to have it
   * yet: it gets another one with the plan that it counts by (E5 of end-markers.ts).
   */
  handleRemoteEnd(end: RemoteEnd): boolean {
    const isEarly = this.#plan !== undefined && end.planEpoch > this.#plan.plan.epoch;
    if (isEarly) this.#markers.addEarly(end);
    else this.#markers.addRemote(end.source, end.destination);
    return !isEarly;
  }

  /** The way to a task is there again: it may have missed markers. */
  repeatFor(destination: TaskId): void {
    if (this.#plan === undefined) return;
    for (const source of this.#markers.upstreamOf(destination, this.#plan)) {
      this.#mark(source, destination);
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
    const { locals, finish } = this.#options;
    const component = assertDefined(plan.componentOf(destination), 'plans are whole');
    for (const task of plan.upstreamTasks(component.name)) {
      const local = locals.get(task);
      if (local?.isPlanned !== true) continue;
      if (!this.#markers.addLocalFor(task, destination, plan.plan.epoch)) continue;
      finish(local.source, destination);
      this.#mark(task, destination);
    }
  }

  #mark(source: TaskId, destination: TaskId): void {
    const planEpoch = this.#markers.planEpochOf(source, destination);
    this.#options.outboxes.get(destination)?.add(new EndMarkerSet(source, planEpoch));
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

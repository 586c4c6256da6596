import type { Clock, Timer } from '../base/clock.ts';
import { type Epoch, epoch, type StreamManagerId, type TaskId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { PhysicalPlan } from '../model/physical-plan.ts';
import type { PlanFacts } from './plan-decision.ts';
import type { Progress } from './stream-manager-server.ts';

/*
  How far the stream managers are with the plan in force, and for how long they are waited for.

  G1. What has retired stays so until it leaves the plan: its stream manager may be started again
      and take a while to know it.
  G2. The time of retiring tasks counts from the plan in which they began, whichever incarnation of
      the master made it. By the wall clock between incarnations, so if that has been set back they
      get their whole time once more, and never longer.
*/

/** How long the packing plan waits for stream managers that do not say that they have the plan. */
const ADOPTION_LIMIT_MS = 10_000;

export interface UpdateProgressOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The setting `topology.update.drain.secs`. */
  readonly drainLimitMs: number;
  /** A time has passed: the facts are others now. */
  readonly onDue: () => void;
}

export class UpdateProgress {
  readonly #options: UpdateProgressOptions;
  readonly #planEpochs = new Map<StreamManagerId, Epoch>();
  #retiring: ReadonlySet<TaskId> = new Set();
  #retired = new Set<TaskId>();
  #inForce = epoch(0);
  #drainLimit: Timer | undefined;
  #isDrainOver = false;
  #adoptionLimit: Timer | undefined;
  #isAdoptionOver = false;

  constructor(options: UpdateProgressOptions) {
    this.#options = options;
  }

  get facts(): Pick<PlanFacts, 'retired' | 'planEpochs' | 'isDrainOver' | 'isAdoptionOver'> {
    return {
      retired: this.#retired,
      planEpochs: this.#planEpochs,
      isDrainOver: this.#isDrainOver,
      isAdoptionOver: this.#isAdoptionOver,
    };
  }

  /** Notes what a stream manager says; true when that is news. */
  note(id: StreamManagerId, { retired, planEpoch }: Progress): boolean {
    const isElsewhere = this.#planEpochs.get(id) !== planEpoch;
    this.#planEpochs.set(id, planEpoch);
    const before = this.#retired.size;
    for (const task of retired) if (this.#retiring.has(task)) this.#retired.add(task);
    return isElsewhere || this.#retired.size > before;
  }

  forget(id: StreamManagerId): void {
    this.#planEpochs.delete(id);
  }

  /** Another plan is in force. */
  follow(plan: PhysicalPlan, retiringSinceMs: number | undefined): void {
    this.#inForce = plan.epoch;
    const tasks = plan.instances.flatMap(({ task, isRetiring }) => (isRetiring ? [task] : []));
    this.#retiring = new Set(tasks);
    this.#retired = new Set(tasks.filter((task) => this.#retired.has(task)));
    this.#adoptionLimit?.cancel();
    this.#adoptionLimit = undefined;
    this.#isAdoptionOver = false;
    this.#followDrain(retiringSinceMs);
  }

  /** The packing plan waits until the stream managers work by the plan in force. */
  awaitAdoption(): void {
    const { clock, logger, onDue } = this.#options;
    this.#adoptionLimit ??= clock.after(ADOPTION_LIMIT_MS, () => {
      const ids = [...this.#planEpochs].flatMap(([id, at]) => (at < this.#inForce ? [id] : []));
      logger.warn('stream managers do not say that they have the plan', { ids });
      this.#isAdoptionOver = true;
      onDue();
    });
  }

  /** Idempotent. */
  close(): void {
    this.#drainLimit?.cancel();
    this.#adoptionLimit?.cancel();
  }

  #followDrain(retiringSinceMs: number | undefined): void {
    if (this.#retiring.size === 0) {
      this.#drainLimit?.cancel();
      this.#drainLimit = undefined;
      this.#isDrainOver = false;
      return;
    }
    const { clock, drainLimitMs, onDue } = this.#options;
    const passedMs = clock.wallNow() - (retiringSinceMs ?? clock.wallNow());
    const leftMs = Math.min(Math.max(drainLimitMs - passedMs, 0), drainLimitMs);
    this.#drainLimit ??= clock.after(leftMs, () => {
      this.#isDrainOver = true;
      onDue();
    });
  }
}

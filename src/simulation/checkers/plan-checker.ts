import type { PhysicalPlan } from '../../model/physical-plan.ts';
import type { Checker, PlanEvent, SimulationEvent } from './checker.ts';
import { Problems } from './problems.ts';

interface PlanOfLife {
  readonly pid: number;
  readonly epoch: number;
}

/**
 * Plans only become newer.
 *
 * P1. In one life of a process the epoch of its plan never falls: older plans are refused.
 * P2. One epoch is one plan: whoever works by it has the same tasks at the same places, in the same
 *     state.
 * P3. A task has its number, component and container for as long as it is in any plan, and never
 *     comes back once it is in none.
 */
export class PlanChecker implements Checker {
  readonly name = 'plans only become newer';
  readonly #lives = new Map<string, PlanOfLife>();
  readonly #contents = new Map<number, string>();
  readonly #seen = new WeakSet<PhysicalPlan>();
  readonly #problems = new Problems();
  /** By number: its component and container. */
  readonly #places = new Map<number, string>();
  /** By epoch. */
  readonly #plans = new Map<number, PhysicalPlan>();

  observe(event: SimulationEvent): void {
    if (event.kind !== 'plan') return;
    this.#checkEpoch(event);
    if (this.#seen.has(event.plan)) return;
    this.#seen.add(event.plan);
    this.#checkContent(event);
  }

  finish(): readonly string[] {
    this.#checkReturns();
    return this.#problems.list();
  }

  #checkEpoch({ process, pid, plan, atMs }: PlanEvent): void {
    const before = this.#lives.get(process);
    if (before?.pid === pid && plan.epoch < before.epoch) {
      const fall = `from plan ${before.epoch} to plan ${plan.epoch}`;
      this.#problems.add(`${process} went back ${fall} at ${atMs} ms`);
    }
    this.#lives.set(process, { pid, epoch: plan.epoch });
  }

  #checkPlaces({ process, plan, atMs }: PlanEvent): void {
    for (const instance of plan.instances) {
      const place = placeOf(instance);
      const known = this.#places.get(instance.task) ?? place;
      this.#places.set(instance.task, known);
      if (known === place) continue;
      const change = `is ${place} in plan ${plan.epoch}, and was ${known}`;
      this.#problems.add(`${process}: task ${instance.task} ${change}, at ${atMs} ms`);
    }
  }

  #checkReturns(): void {
    const gone = new Set<number>();
    let before: readonly number[] = [];
    for (const [epoch, { instances }] of [...this.#plans].toSorted(([a], [b]) => a - b)) {
      const tasks = instances.map(({ task }) => Number(task));
      for (const task of before) if (!tasks.includes(task)) gone.add(task);
      for (const task of tasks) {
        if (gone.has(task)) this.#problems.add(`task ${task} is back in plan ${epoch}`);
      }
      before = tasks;
    }
  }

  #checkContent(event: PlanEvent): void {
    const { process, plan, atMs } = event;
    this.#plans.set(plan.epoch, plan);
    this.#checkPlaces(event);
    const tasks = tasksOf(plan);
    const content = JSON.stringify([plan.streamManagers, tasks, plan.topology.state]);
    const known = this.#contents.get(plan.epoch);
    if (known === undefined) this.#contents.set(plan.epoch, content);
    else if (known !== content) {
      this.#problems.add(`${process} has another plan ${plan.epoch} than others at ${atMs} ms`);
    }
  }
}

function tasksOf(plan: PhysicalPlan): string {
  return plan.instances
    .map((instance) => `${instance.task} ${placeOf(instance)} ${instance.isRetiring === true}`)
    .toSorted()
    .join('\n');
}

function placeOf({ id, streamManager }: PhysicalPlan['instances'][number]): string {
  return `${id} at ${streamManager}`;
}

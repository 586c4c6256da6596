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
 * P3. A task has its number, component and container for as long as the topology runs.
 */
export class PlanChecker implements Checker {
  readonly name = 'plans only become newer';
  readonly #lives = new Map<string, PlanOfLife>();
  readonly #contents = new Map<number, string>();
  readonly #seen = new WeakSet<PhysicalPlan>();
  readonly #problems = new Problems();
  #tasks: string | undefined;

  observe(event: SimulationEvent): void {
    if (event.kind !== 'plan') return;
    this.#checkEpoch(event);
    if (this.#seen.has(event.plan)) return;
    this.#seen.add(event.plan);
    this.#checkContent(event);
  }

  finish(): readonly string[] {
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

  #checkContent({ process, plan, atMs }: PlanEvent): void {
    const tasks = tasksOf(plan);
    this.#tasks ??= tasks;
    if (tasks !== this.#tasks) {
      this.#problems.add(`${process} has other tasks in plan ${plan.epoch} at ${atMs} ms`);
    }
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
    .map(({ task, id, streamManager }) => `${task} ${id} ${streamManager}`)
    .toSorted()
    .join('\n');
}

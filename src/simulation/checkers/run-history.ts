import type { ContainerId } from '../../base/ids.ts';
import type { ContainerPlan, InstancePlan, PackingPlan } from '../../model/packing-plan.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import { taskOfInstance } from './places.ts';

/*
  The plans of a run, as the state tree had them: what was wanted when, and what was in force when.

  H1. A task has one number and one place in all of them: an update that moves a task gives it
      another number. So all plans together say where any task that ever was has been.
  H2. Plans are seen by looking, a little after they are stored.
*/

/** A plan of the state tree, and when it was first seen there. */
export interface SeenPlan<Plan> {
  readonly plan: Plan;
  readonly atMs: number;
}

/** A time in which a process should not be there. */
export interface UnwantedTime {
  readonly fromMs: number;
  /** Infinite while it lasts. */
  toMs: number;
}

export class RunHistory {
  readonly #packings: SeenPlan<PackingPlan>[] = [];
  readonly #plans: SeenPlan<PhysicalPlan>[] = [];
  readonly #working = new Map<string, { readonly epoch: number; readonly atMs: number }[]>();

  constructor(submitted: PackingPlan) {
    this.#packings.push({ plan: submitted, atMs: 0 });
  }

  /** In the order in which they were stored; the first is the submitted one. */
  get packings(): readonly SeenPlan<PackingPlan>[] {
    return this.#packings;
  }

  get plans(): readonly SeenPlan<PhysicalPlan>[] {
    return this.#plans;
  }

  /** True when it is another one than the last; a plan that is seen again is the same object. */
  notePacking(plan: PackingPlan, atMs: number): boolean {
    const last = this.#packings.at(-1)?.plan;
    if (last === plan || (last?.epoch !== undefined && last.epoch === plan.epoch)) return false;
    // The submitted one as it was stored.
    if (plan.epoch === undefined) return false;
    this.#packings.push({ plan, atMs });
    return true;
  }

  notePlan(plan: PhysicalPlan, atMs: number): void {
    if (this.#plans.at(-1)?.plan.epoch !== plan.epoch) this.#plans.push({ plan, atMs });
  }

  /** All tasks that any plan has had (H1). */
  get everything(): PackingPlan {
    const [first] = this.#packings;
    const containers = new Map<ContainerId, ContainerPlan>();
    for (const { plan } of this.#packings) {
      for (const container of plan.containers) {
        const known = containers.get(container.id);
        const instances = withAll(known?.instances ?? [], container.instances);
        containers.set(container.id, { ...container, instances });
      }
    }
    return { id: first?.plan.id ?? '', containers: [...containers.values()] };
  }

  /**
   * The times in which no packing plan named a process, of those that carry data, supervise or
   * measure; none for others.
   */
  unwantedTimes(process: string): readonly UnwantedTime[] {
    const container = containerOf(process);
    if (container === undefined || container === 0) return [];
    const times: UnwantedTime[] = [];
    let open: UnwantedTime | undefined;
    for (const { plan, atMs } of this.#packings) {
      if (!isNamed(plan, process, container)) {
        if (open !== undefined) continue;
        open = { fromMs: atMs, toMs: Number.POSITIVE_INFINITY };
        times.push(open);
      } else {
        if (open !== undefined) open.toMs = atMs;
        open = undefined;
      }
    }
    return times;
  }

  /** A stream manager was seen to work by a plan; repeats are harmless. */
  noteWorking(streamManager: string, epoch: number, atMs: number): void {
    const known = this.#working.get(streamManager) ?? [];
    this.#working.set(streamManager, known);
    if (known.at(-1)?.epoch !== epoch) known.push({ epoch, atMs });
  }

  /** The newest plan that a stream manager had been seen to work by at a time; 0 for none. */
  workingEpoch(streamManager: string, atMs: number): number {
    const known = this.#working.get(streamManager) ?? [];
    return known.findLast((one) => one.atMs <= atMs)?.epoch ?? 0;
  }

  /**
   * Whether every plan that was in force between two times has a process that carries data; true as
   * well where no plan was seen.
   */
  isInForce(process: string, fromMs: number, toMs: number): boolean {
    return this.#plans.every(({ plan, atMs }, index) => {
      const untilMs = this.#plans[index + 1]?.atMs ?? Number.POSITIVE_INFINITY;
      if (atMs > toMs || untilMs < fromMs) return true;
      return (
        plan.instances.some(({ id }) => id === process) ||
        plan.streamManagers.some(({ id }) => id === process)
      );
    });
  }

  /** The plan that was in force at a time; undefined when none was. */
  planAt(atMs: number): PhysicalPlan | undefined {
    return this.#plans.findLast((seen) => seen.atMs <= atMs)?.plan;
  }

  /** When a task left the plan in force; undefined when it has not, or never was in one. */
  leftMs(task: number): number | undefined {
    const last = this.#plans.findLastIndex(({ plan }) => hasTask(plan, task));
    return last === -1 ? undefined : this.#plans[last + 1]?.atMs;
  }

  /** When a task began to retire. */
  retiringMs(task: number): number | undefined {
    return this.#plans.find(({ plan }) =>
      plan.instances.some((one) => one.task === task && one.isRetiring === true),
    )?.atMs;
  }

  /** When a new spout task was said to have come too late; undefined when it never was. */
  withoutInputMs(task: number): number | undefined {
    return this.#plans.find(({ plan }) =>
      plan.instances.some((one) => one.task === task && one.isWithoutInput === true),
    )?.atMs;
  }

  /** When a task came into the plan in force. */
  joinedMs(task: number): number | undefined {
    return this.#plans.find(({ plan }) => hasTask(plan, task))?.atMs;
  }

  /** Whether the tasks of the topology have ever been others than those it began with. */
  get hasUpdates(): boolean {
    return this.#packings.length > 1;
  }
}

/** A run whose plans never changed. */
export function unchanged(packing: PackingPlan): RunHistory {
  return new RunHistory(packing);
}

function hasTask({ instances }: PhysicalPlan, task: number): boolean {
  return instances.some((one) => one.task === task);
}

function withAll(
  known: readonly InstancePlan[],
  more: readonly InstancePlan[],
): readonly InstancePlan[] {
  const tasks = new Set(known.map(({ task }) => task));
  return [...known, ...more.filter(({ task }) => !tasks.has(task))];
}

function isNamed({ containers }: PackingPlan, process: string, container: number): boolean {
  const planned = containers.find(({ id }) => id === container);
  const task = taskOfInstance(process);
  if (task === undefined) return planned !== undefined;
  return planned?.instances.some((instance) => instance.task === task) ?? false;
}

/** Undefined for what belongs to no container: the scheduler. */
function containerOf(process: string): number | undefined {
  const digits = /^(?:container_|stmgr-|executor-|metricsmgr-)(\d+)/.exec(process)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

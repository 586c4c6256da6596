import { assertDefined } from '../../../../src/base/assert.ts';
import type { TaskId } from '../../../../src/base/ids.ts';
import type { Life } from '../../../../src/simulation/workload/life.ts';
import { createWorkload, type Workload } from '../../../../src/simulation/workload/workload.ts';
import type {
  GroupingDescription,
  WorkloadDescription,
} from '../../../../src/simulation/workload/workload-description.ts';
import { ExpectedRouting } from '../../../../src/simulation/checkers/expected-routing.ts';
import { aBoltPlan, aSpoutPlan, aWorkloadPlan } from '../workload/small-workloads.ts';
import { packingOf } from './finished-run.ts';

/**
 * A ledger that a test writes by hand: one task of `source`, and two of `sink` that read it by one
 * grouping, in two containers.
 */
export class HandWritten {
  readonly workload: Workload;
  /** The tasks of `sink`, ascending. */
  readonly sinks: readonly TaskId[];
  readonly source: TaskId;
  nowMs = 0;
  readonly #lives = new Map<TaskId, Life>();

  constructor(grouping: GroupingDescription = { kind: 'shuffle' }, plan = planWith(grouping)) {
    this.workload = createWorkload(plan);
    this.workload.ledger.useClock(() => this.nowMs);
    const routing = new ExpectedRouting(plan, packingOf(this.workload));
    this.sinks = routing.tasksOf('sink');
    this.source = assertDefined(routing.tasksOf('source')[0], 'there is a source');
    for (const task of routing.tasks) this.restart(task);
  }

  get sink(): TaskId {
    return assertDefined(this.sinks[0], 'there is a first sink');
  }

  get otherSink(): TaskId {
    return assertDefined(this.sinks[1], 'there is a second sink');
  }

  lifeOf(task: TaskId): Life {
    return assertDefined(this.#lives.get(task), 'every task lives');
  }

  /** A new life of a task. */
  restart(task: TaskId): Life {
    const { plan, ledger } = this.workload;
    const routing = new ExpectedRouting(plan, packingOf(this.workload));
    const component = routing.componentOf(task);
    const life = ledger.open(task, component, routing.tasksOf(component).indexOf(task));
    this.#lives.set(task, life);
    return life;
  }

  emit(firstKey = 0, secondKey = 0): number {
    return this.workload.ledger.emit(this.lifeOf(this.source), 'default', firstKey, secondKey);
  }

  execute(tuple: number, task: TaskId): void {
    this.workload.ledger.execute(this.lifeOf(task), tuple);
  }

  /** All tasks come to their end, with as much input as the plan says. */
  end(): void {
    const { ledger, plan } = this.workload;
    for (let read = 0; read < (plan.spouts[0]?.tuples ?? 0); read += 1) {
      ledger.count('input', this.source);
    }
    for (const life of this.#lives.values()) {
      if (life.component === 'sink') ledger.beginFinish(life);
      ledger.end(life);
    }
  }
}

function planWith(grouping: GroupingDescription): WorkloadDescription {
  return aWorkloadPlan({ spouts: [aSpoutPlan()], bolts: [aBoltPlan({}, grouping)] });
}

import { BasicBolt } from '../../src/api/basic-bolt.ts';
import type { TopologyContext } from '../../src/api/topology-context.ts';
import type { AnyTuple } from '../../src/api/tuple.ts';
import {
  componentName,
  containerId,
  epoch,
  instanceIdOf,
  streamManagerId,
  taskId,
} from '../../src/base/ids.ts';
import type { PhysicalPlan } from '../../src/model/physical-plan.ts';
import { PlanIndex } from '../../src/model/plan-index.ts';
import { linePlan } from './task-in-test.ts';

/* Plans that follow `linePlan`, and a bolt that tells what it sees of them. */

type Topology = PhysicalPlan['topology'];

/** `linePlan` with another number, and what is changed in its topology. */
export function changedPlan(number: number, change: Partial<Topology> = {}): PlanIndex {
  return new PlanIndex({
    ...linePlan,
    topology: { ...linePlan.topology, config: new Map(), ...change },
    epoch: epoch(number),
  });
}

/** With more tasks, numbered from 5, behind those of `linePlan`. */
export function grown(plan: PlanIndex, ...components: readonly string[]): PlanIndex {
  const added = components.map((name, index) => {
    const component = componentName(name);
    const task = taskId(5 + index);
    const componentIndex = plan.allTasksOf(component).length;
    const id = instanceIdOf(containerId(1), component, task);
    return { id, streamManager: streamManagerId('stmgr-1'), task, componentIndex, component };
  });
  return new PlanIndex({ ...plan.plan, instances: [...plan.plan.instances, ...added] });
}

/** Without some tasks, or with them as an update takes them away. */
export function shrunk(
  plan: PlanIndex,
  tasks: readonly number[],
  how: 'gone' | 'retiring',
): PlanIndex {
  const instances = plan.plan.instances.flatMap((one) => {
    if (!tasks.includes(one.task)) return [one];
    return how === 'gone' ? [] : [{ ...one, isRetiring: true }];
  });
  return new PlanIndex({ ...plan.plan, instances });
}

/** As `middle`. */
export class Looking extends BasicBolt.of({ default: ['word'], unread: ['word'] }) {
  readonly calls: string[] = [];
  execution: Promise<void> | undefined;
  context: TopologyContext | undefined;

  override prepare(context: TopologyContext): void {
    this.context = context;
  }
  override execute({ values }: AnyTuple): Promise<void> | undefined {
    this.calls.push(String(values[0]));
    return this.execution;
  }
  override update(context: TopologyContext): void {
    const { taskIndex, parallelism, isRetiring, config } = context;
    const tasks = context.componentTasks('source').join(' ');
    const color = config.text('color');
    this.calls.push(`${taskIndex} of ${parallelism}, ${isRetiring}, ${color}, source ${tasks}`);
  }
  override finish(): void {
    this.calls.push('finish');
  }
}

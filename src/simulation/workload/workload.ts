import { type BuiltTopology, topology, type TopologyDefinition } from '../../api/topology.ts';
import type { Random } from '../../base/random.ts';
import { defineWorkload } from './define-workload.ts';
import { describeWorkload, type WorkloadLimits } from './describe-workload.ts';
import { Ledger } from './ledger.ts';
import { TaskThreads } from './task-threads.ts';
import type { WorkloadDescription } from './workload-description.ts';

/** A topology to run in the simulator, made by a seed, and what its user code saw. */
export interface Workload {
  readonly seed: number;
  /** The plan as one line of JSON: `createWorkload(JSON.parse(line))` makes the same workload. */
  readonly description: string;
  readonly plan: WorkloadDescription;
  /** What a user's module would export. All that is built of it shares `ledger` and `threads`. */
  readonly definition: TopologyDefinition;
  /** Built with its own settings. */
  readonly topology: BuiltTopology;
  readonly ledger: Ledger;
  /** The simulated machine says here how user code reaches the thread that it runs on. */
  readonly threads: TaskThreads;
}

export function generateWorkload(random: Random, limits: WorkloadLimits = {}): Workload {
  return createWorkload(describeWorkload(random, limits));
}

/** @throws EngineError INVALID_TOPOLOGY or INVALID_CONFIG when the plan makes no topology. */
export function createWorkload(plan: WorkloadDescription): Workload {
  const ledger = new Ledger();
  const threads = new TaskThreads();
  const definition = topology(plan.name, (builder) =>
    defineWorkload(builder, plan, { ledger, threads }),
  );
  return {
    seed: plan.seed,
    description: JSON.stringify(plan),
    plan,
    definition,
    topology: definition.build(),
    ledger,
    threads,
  };
}

import { topologyId } from '../../../../src/base/ids.ts';
import type { PackingPlan } from '../../../../src/model/packing-plan.ts';
import { packRoundRobin } from '../../../../src/packing/round-robin.ts';
import type {
  FaultExplanation,
  FinishedRun,
  ProcessEnd,
} from '../../../../src/simulation/checkers/checker.ts';
import { unchanged } from '../../../../src/simulation/checkers/run-history.ts';
import type { Workload } from '../../../../src/simulation/workload/workload.ts';

/** No faults, so no excuses. */
export const NO_FAULTS: FaultExplanation = {
  hasFaults: false,
  explainsEnd: () => false,
  explainsLoss: () => false,
  explainsDelay: () => false,
};

/** Whatever went wrong, a fault may have caused it. */
export const ANY_FAULT: FaultExplanation = {
  hasFaults: true,
  explainsEnd: () => true,
  explainsLoss: () => true,
  explainsDelay: () => true,
};

export function packingOf(workload: Workload): PackingPlan {
  const topology = {
    ...workload.topology.topology,
    id: topologyId('small-1'),
    state: 'RUNNING',
  } as const;
  return packRoundRobin(topology).plan;
}

/** A run that has completed, in order unless the ledger says otherwise. */
export function aFinishedRun(workload: Workload, change: Partial<FinishedRun> = {}): FinishedRun {
  return {
    workload,
    packing: packingOf(workload),
    history: unchanged(packingOf(workload)),
    explanation: NO_FAULTS,
    outcome: 'completed',
    endedAtMs: 100_000,
    takenDownFromMs: 90_000,
    completion: {
      topologyId: topologyId('small-1'),
      completedAtMs: 90_000,
      result: 'completed',
      incidents: [],
      recovered: [],
    },
    ends: [],
    commands: [],
    leftovers: { processes: [], stateNodes: [], files: [] },
    ...change,
  };
}

export function anEnd(process: string, atMs: number, change: Partial<ProcessEnd> = {}): ProcessEnd {
  return {
    kind: 'process-end',
    atMs,
    process,
    pid: 100,
    code: null,
    signal: 'SIGKILL',
    reason: '',
    ...change,
  };
}

import type {
  BoltDescription,
  GroupingDescription,
  SpoutDescription,
  StreamDescription,
  WorkloadDescription,
} from '../../../../src/simulation/workload/workload-description.ts';

/* Workloads that are written by hand: `aWorkloadPlan()` is one spout and one bolt that reads it. */

export const DEFAULT_ONLY: readonly StreamDescription[] = [
  { name: 'default', payloadBytes: [4], keys: 3 },
];

export function aSpoutPlan(change: Partial<SpoutDescription> = {}): SpoutDescription {
  return {
    name: 'source',
    parallelism: 1,
    streams: DEFAULT_ONLY,
    faults: [],
    tuples: 10,
    pace: { kind: 'flood', perCall: 3 },
    withMessageIds: false,
    ...change,
  };
}

export function aBoltPlan(
  change: Partial<BoltDescription> = {},
  grouping: GroupingDescription = { kind: 'shuffle' },
): BoltDescription {
  return {
    name: 'sink',
    parallelism: 2,
    streams: [],
    faults: [],
    base: 'basic',
    inputs: [{ component: 'source', stream: 'default', grouping }],
    style: { kind: 'sync' },
    fanOut: 1,
    workMs: 0,
    emitsInFinish: 0,
    ...change,
  };
}

export function aWorkloadPlan(change: Partial<WorkloadDescription> = {}): WorkloadDescription {
  return {
    seed: 1,
    name: 'small',
    containers: 2,
    config: {},
    spouts: [aSpoutPlan()],
    bolts: [aBoltPlan()],
    ...change,
  };
}

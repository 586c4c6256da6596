import type {
  BoltDescription,
  SpoutDescription,
  WorkloadDescription,
} from '../../src/simulation/workload/workload-description.ts';

const stream = { name: 'default', payloadBytes: [10], keys: 4 };

export function aSpout(name: string, changes: Partial<SpoutDescription> = {}): SpoutDescription {
  return {
    name,
    parallelism: 1,
    streams: [stream],
    faults: [],
    tuples: 10,
    pace: { kind: 'flood', perCall: 1 },
    withMessageIds: false,
    ...changes,
  };
}

/** Reads the default streams of `inputs` by shuffle grouping. */
export function aBolt(
  name: string,
  inputs: readonly string[],
  changes: Partial<BoltDescription> = {},
): BoltDescription {
  return {
    name,
    parallelism: 1,
    streams: [stream],
    faults: [],
    base: 'basic',
    inputs: inputs.map((component) => ({
      component,
      stream: 'default',
      grouping: { kind: 'shuffle' },
    })),
    style: { kind: 'sync' },
    fanOut: 1,
    workMs: 0,
    emitsInFinish: 0,
    ...changes,
  };
}

export function aWorkload(changes: Partial<WorkloadDescription> = {}): WorkloadDescription {
  return {
    seed: 1,
    name: 'workload',
    containers: 1,
    config: {},
    spouts: [aSpout('spout')],
    bolts: [aBolt('bolt', ['spout'])],
    ...changes,
  };
}

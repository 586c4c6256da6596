import type {
  BoltDescription,
  SpoutDescription,
  WorkloadDescription,
} from '../workload/workload-description.ts';

/*
  Workloads that are a little simpler than another one and still valid: each bolt reads something
  that is there, and at least one spout is left. Pure. The order is the order of trying: what takes
  most away comes first.
*/

/** Fewer tuples than this say nothing more about a fault. */
const TUPLES_MIN = 1;

export function simplerWorkloads(workload: WorkloadDescription): readonly WorkloadDescription[] {
  return [
    ...withoutComponents(workload),
    ...withoutUserFaults(workload),
    ...withFewerTuples(workload),
    ...withoutParallelism(workload),
    ...(workload.containers > 1 ? [{ ...workload, containers: 1 }] : []),
  ].map(withoutEmptyContainers);
}

/** A container without a task is refused. */
function withoutEmptyContainers(workload: WorkloadDescription): WorkloadDescription {
  const parts = [...workload.spouts, ...workload.bolts];
  const tasks = parts.reduce((sum, { parallelism }) => sum + parallelism, 0);
  return workload.containers <= tasks ? workload : { ...workload, containers: tasks };
}

function withoutComponents(workload: WorkloadDescription): readonly WorkloadDescription[] {
  const { spouts, bolts } = workload;
  const names = [...bolts.toReversed(), ...spouts.toReversed()].map(({ name }) => name);
  return names.map((name) => without(workload, name)).filter(({ spouts: left }) => left.length > 0);
}

/** Bolts that are left with nothing to read go too; they stand in an order that sees to that. */
function without(workload: WorkloadDescription, name: string): WorkloadDescription {
  const gone = new Set([name]);
  const bolts: BoltDescription[] = [];
  for (const bolt of workload.bolts) {
    const inputs = bolt.inputs.filter(({ component }) => !gone.has(component));
    if (inputs.length === 0 || gone.has(bolt.name)) gone.add(bolt.name);
    else bolts.push({ ...bolt, inputs });
  }
  return { ...workload, bolts, spouts: workload.spouts.filter((spout) => !gone.has(spout.name)) };
}

function withoutUserFaults(workload: WorkloadDescription): readonly WorkloadDescription[] {
  const { spouts, bolts } = workload;
  if ([...spouts, ...bolts].every(({ faults }) => faults.length === 0)) return [];
  return [
    {
      ...workload,
      spouts: spouts.map((spout) => ({ ...spout, faults: [] })),
      bolts: bolts.map((bolt) => ({ ...bolt, faults: [] })),
    },
  ];
}

function withFewerTuples(workload: WorkloadDescription): readonly WorkloadDescription[] {
  if (workload.spouts.every(({ tuples }) => tuples <= TUPLES_MIN)) return [];
  const fewer = (spout: SpoutDescription): SpoutDescription => ({
    ...spout,
    tuples: Math.max(TUPLES_MIN, Math.floor(spout.tuples / 2)),
  });
  return [{ ...workload, spouts: workload.spouts.map(fewer) }];
}

/** User faults belong to tasks by their index: those of tasks that are gone never happen. */
function withoutParallelism(workload: WorkloadDescription): readonly WorkloadDescription[] {
  const { spouts, bolts } = workload;
  if ([...spouts, ...bolts].every(({ parallelism }) => parallelism === 1)) return [];
  return [
    {
      ...workload,
      spouts: spouts.map((spout) => ({ ...spout, parallelism: 1 })),
      bolts: bolts.map((bolt) => ({ ...bolt, parallelism: 1 })),
    },
  ];
}

/*
  What a topology costs as it grows, before its first tuple: plans, master, stream managers, mesh,
  state tree (docs/scale.md).

      npm run bench -- scale [--only plans,master,stream-manager,control-plane,mesh,cluster]
                             [--sizes 1,10,100,1000]

    plans           sizes and codecs, in this process
    master          one real topology master alone in a process, scripted stream managers
    stream-manager  one real stream manager alone in a process, scripted everything else
    control-plane   simulated: real master and the real master clients of all stream managers
    mesh            the same with the real links of all stream managers
    cluster         simulated: the whole topology with scheduler, executors and instances

  Each part has a largest size of its own, above which its figures are extrapolated and begin with
  ~; a size costs up to minutes of CPU time. Times are CPU times unless they are called simulated,
  and those of small sizes are of code that is not optimized yet.
*/

import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { MasterAlone } from './master-alone.ts';
import { Measurements, tableOf } from './measurement.ts';
import { measurePlans } from './plan-size.ts';
import { SimulatedControlPlane } from './simulated-control-plane.ts';
import { type SizedTopology, sizedTopology } from './sized-topology.ts';
import { StreamManagerAlone } from './stream-manager-alone.ts';
import { WholeCluster } from './whole-cluster.ts';

interface Part {
  readonly name: string;
  /** With more containers it takes more memory or time than a small machine has. */
  readonly containersMax: number;
  readonly measure: (sized: SizedTopology, into: Measurements) => Promise<void> | void;
}

const PARTS: readonly Part[] = [
  { name: 'plans', containersMax: 10_000, measure: measurePlans },
  {
    name: 'master',
    containersMax: 2_000,
    measure: (sized, into) => MasterAlone.measure(sized, into),
  },
  {
    name: 'stream-manager',
    containersMax: 2_000,
    measure: (sized, into) => StreamManagerAlone.measure(sized, into),
  },
  {
    name: 'control-plane',
    containersMax: 2_000,
    measure: (sized, into) => SimulatedControlPlane.measure(sized, into, { withLinks: false }),
  },
  {
    name: 'mesh',
    containersMax: 320,
    measure: (sized, into) => SimulatedControlPlane.measure(sized, into, { withLinks: true }),
  },
  {
    name: 'cluster',
    containersMax: 320,
    measure: (sized, into) => WholeCluster.measure(sized, into),
  },
];

/** Memory is read after a collection, and a simulated mesh is large. */
const NODE_FLAGS = ['--expose-gc', '--max-old-space-size=12000'];

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: PARTS.map(({ name }) => name).join(',') },
    sizes: { type: 'string', default: '1,10,100,1000' },
  },
});
const wanted = values.only.split(',');
const sizes = values.sizes.split(',').map(Number);

if (globalThis.gc === undefined) {
  const args = [...NODE_FLAGS, ...process.argv.slice(1)];
  process.exit(spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1);
}
for (const part of PARTS) {
  if (wanted.includes(part.name)) await measure(part);
}
// Simulated worlds and clients of measured processes have nothing more to say.
process.exit(0);

async function measure({ name, containersMax, measure: run }: Part): Promise<void> {
  const measured = sizes.filter((size) => size <= containersMax);
  const measurements = new Measurements();
  for (const size of measured) {
    console.error(`${name}: ${size} containers`);
    await run(sizedTopology(size), measurements);
  }
  console.log(`\n${name}\n\n${tableOf(measurements.all, sizes)}`);
}

/*
  npm run bench -- tracker [--instances N] [--topologies N] [--asks N]

  How long a Tracker takes over each path, without network, when its trees hold N instances: once
  in one topology and once in many. The state trees are in memory, and nobody answers for metrics:
  those have a bench of their own. What is shown is time of the processor, so that a busy machine
  does not matter. `first` is the first answer after a change of the topology, when nothing of it
  has been kept; the others are of the answers after it.
*/

import { parseArgs } from 'node:util';
import { systemClock } from '../src/base/clock.ts';
import {
  containerId,
  epoch,
  instanceIdOf,
  streamManagerIdOf,
  topologyId,
  topologyName,
} from '../src/base/ids.ts';
import { silentLogger } from '../src/base/logger.ts';
import { type ContainerReport, encodeContainerReport } from '../src/model/container-report.ts';
import { expectedProcesses } from '../src/model/expected-processes.ts';
import type { PhysicalPlan } from '../src/model/physical-plan.ts';
import { MemoryStateManager } from '../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../src/state-manager/paths.ts';
import { createTracker, type Tracker } from '../src/tracker/tracker.ts';
import { encodeExecutionState } from '../src/wire/execution-state.ts';
import { encodePackingPlan } from '../src/wire/packing-plan.ts';
import { encodePhysicalPlan } from '../src/wire/physical-plan.ts';
import { encodeTopology } from '../src/wire/topology.ts';
import {
  addressOf,
  INSTANCES_PER_CONTAINER,
  type SizedTopology,
  sizedTopology,
} from './scale/sized-topology.ts';

const { values } = parseArgs({
  options: {
    instances: { type: 'string', default: '3000' },
    topologies: { type: 'string', default: '100' },
    asks: { type: 'string', default: '50' },
  },
});

const ASKS = Number(values.asks);
const SETTLE_MS = 50;

const OF_ONE = [
  '/topologies/info',
  '/topologies/config',
  '/topologies/packingplan',
  '/topologies/physicalplan',
  '/topologies/executionstate',
  '/topologies/metadata',
  '/topologies/schedulerlocation',
  '/topologies/logicalplan',
  '/api/pages/topology',
];
const OF_ALL = [
  '/clusters',
  '/machines',
  '/topologies',
  '/topologies/states',
  '/api/pages/topologies',
];

async function write(store: MemoryStateManager, sized: SizedTopology, name: string): Promise<void> {
  const { packing } = sized;
  const topology = { ...sized.topology, name: topologyName(name), id: topologyId(`${name}-1`) };
  const plan: PhysicalPlan = {
    epoch: epoch(1),
    topology,
    streamManagers: packing.containers.map(({ id }) => addressOf(id)),
    instances: packing.containers.flatMap(({ id, instances }) =>
      instances.map(({ component, componentIndex, task }) => ({
        id: instanceIdOf(id, component, task),
        streamManager: streamManagerIdOf(id),
        component,
        componentIndex,
        task,
      })),
    ),
  };
  await store.write(paths.topology(topology.name), encodeTopology(topology));
  await store.write(paths.packingPlan(topology.name), encodePackingPlan(packing));
  await store.write(paths.physicalPlan(topology.name), encodePhysicalPlan(plan));
  await store.write(
    paths.executionState(topology.name),
    encodeExecutionState({
      topologyName: topology.name,
      topologyId: topology.id,
      cluster: 'local',
      role: 'someone',
      environ: 'bench',
      submittedAtSeconds: 1_700_000_000,
      submittedBy: 'someone',
      engineVersion: '0.0.0',
    }),
  );
  const processes = expectedProcesses(packing);
  const ids = [0, ...packing.containers.map(({ id }) => Number(id))];
  const byContainer = Map.groupBy(processes, (process) =>
    Number(/^(?:stmgr|metricsmgr|container)[-_](\d+)/.exec(process)?.[1] ?? 0),
  );
  for (const id of ids) await report(store, topology.name, id, byContainer.get(id) ?? []);
}

async function report(
  store: MemoryStateManager,
  name: SizedTopology['topology']['name'],
  id: number,
  processes: readonly string[],
  restarts = 0,
): Promise<void> {
  const written: ContainerReport = {
    containerId: containerId(id),
    host: `worker-${id}.example.net`,
    pid: 1,
    startedAtMs: 1,
    shellPort: 1,
    processes: processes.map((process) => ({
      name: process,
      pid: 2,
      state: 'running',
      restarts,
      startedAtMs: 1,
      readyAtMs: 2,
    })),
  };
  await store.write(paths.container(name, containerId(id)), encodeContainerReport(written));
}

async function timed(tracker: Tracker, path: string) {
  const before = process.cpuUsage();
  const request = new Request(`http://localhost${path}`, { headers: { host: 'localhost' } });
  const response = await tracker.fetch(request);
  const bytes = (await response.arrayBuffer()).byteLength;
  if (response.status !== 200) throw new Error(`${path}: status ${response.status}`);
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1000, bytes };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    systemClock.after(ms, resolve);
  });
}

/** One row for each path; `change` makes a new view of the topology that is asked for. */
async function measure(
  title: string,
  tracker: Tracker,
  names: readonly string[],
  change: () => Promise<void>,
): Promise<void> {
  const [name] = names;
  const query = `?cluster=local&environ=bench&topology=${name}`;
  const rows: Record<string, object> = {};
  for (const path of [...OF_ALL, ...OF_ONE.map((each) => each + query)]) {
    await timed(tracker, path); // What is compiled once for all paths.
    await change();
    await pause(SETTLE_MS);
    const first = await timed(tracker, path);
    const all: number[] = [];
    for (let ask = 0; ask < ASKS; ask += 1) all.push((await timed(tracker, path)).ms);
    const sorted = all.toSorted((left, right) => left - right);
    rows[path.replace(query, '')] = {
      first: first.ms.toFixed(1),
      median: (sorted[Math.floor(ASKS / 2)] ?? 0).toFixed(2),
      p99: (sorted[Math.ceil(ASKS * 0.99) - 1] ?? 0).toFixed(2),
      KiB: (first.bytes / 1024).toFixed(0),
    };
  }
  console.log(`\n${title}: milliseconds of CPU for an answer`);
  console.table(rows);
}

async function run(title: string, topologies: number, instances: number): Promise<void> {
  const store = new MemoryStateManager();
  const sized = sizedTopology(Math.ceil(instances / topologies / INSTANCES_PER_CONTAINER));
  const names = Array.from({ length: topologies }, (_, index) => `words-${index}`);
  for (const name of names) await write(store, sized, name);
  const cluster = {
    name: 'local',
    address: 'memory',
    stateManager: store,
    following: 'watches',
  } as const;
  const tracker = createTracker({
    clusters: [cluster],
    clock: systemClock,
    logger: silentLogger,
    askRegistrations: () => Promise.resolve({ absent: [] }),
  });
  const startedMs = systemClock.now();
  const isRead = (): boolean =>
    tracker.snapshots.now().clusters[0]?.topologies.length === topologies;
  while (!isRead()) await pause(1);
  console.log(`\n${title}: read in ${(systemClock.now() - startedMs).toFixed(0)} ms`);
  let changes = 0;
  await measure(title, tracker, names, async () => {
    changes += 1;
    await report(store, topologyName('words-0'), 1, ['stmgr-1', 'metricsmgr-1'], changes);
  });
  await tracker.close();
  await store.close();
}

const instances = Number(values.instances);
await run(`1 topology of ${instances} instances`, 1, instances);
const many = Number(values.topologies);
await run(`${many} topologies of ${Math.round(instances / many)} instances`, many, instances);

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { containerId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { type ContainerReport, encodeContainerReport } from '../../src/model/container-report.ts';
import { expectedProcesses } from '../../src/model/expected-processes.ts';
import type { LogicalTopology } from '../../src/model/logical-topology.ts';
import type { PackingPlan } from '../../src/model/packing-plan.ts';
import {
  MemoryStateManager,
  MemoryStateTree,
} from '../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../src/state-manager/paths.ts';
import type { StateManager } from '../../src/state-manager/state-manager.ts';
import { createTracker, type Tracker, type TrackerOptions } from '../../src/tracker/tracker.ts';
import type { TrackedCluster } from '../../src/tracker/state/tracked-cluster.ts';
import { encodeExecutionState } from '../../src/wire/execution-state.ts';
import { TopologyMasterLocation } from '../../src/wire/messages.ts';
import { encodePackingPlan } from '../../src/wire/packing-plan.ts';
import { encodePhysicalPlan } from '../../src/wire/physical-plan.ts';
import { encodeTopology } from '../../src/wire/topology.ts';
import { ManualClock } from './manual-clock.ts';
import { settled } from './settled.ts';
import { aPhysicalPlan } from './topologies.ts';

/* State trees for a Tracker to look at, written by Heron or by us. */

const GOLDEN = join(import.meta.dirname, '../golden/state');

/** A topology that runs, as the Tracker of Heron accepted its nodes; nothing of ours is there. */
export async function writeHeronTopology(store: StateManager): Promise<void> {
  const folders = [
    'topologies',
    'packingplans',
    'executionstate',
    'pplans',
    'tmanagers',
    'metricscaches',
    'schedulers',
  ];
  for (const folder of folders) {
    const bytes = readFileSync(join(GOLDEN, `accepted-${folder}-g-live.bin`));
    await store.write(`${folder}/g-live`, bytes);
  }
}

/** Submitted by Heron's command line, in Java or in Python, and never started. */
export async function writeSubmitted(store: StateManager, name: string): Promise<void> {
  for (const folder of ['topologies', 'packingplans', 'executionstate', 'schedulers']) {
    const bytes = readFileSync(join(GOLDEN, `submitted-${folder}-${name}.bin`));
    await store.write(`${folder}/${name}`, bytes);
  }
}

/** A topology of ours that runs: each process of its plan is up. */
export async function writeTopology(
  store: StateManager,
  topology: LogicalTopology,
  packing: PackingPlan,
): Promise<void> {
  const { name, id } = topology;
  await store.write(paths.topology(name), encodeTopology(topology));
  await store.write(paths.packingPlan(name), encodePackingPlan(packing));
  await store.write(
    paths.executionState(name),
    encodeExecutionState({
      topologyName: name,
      topologyId: id,
      cluster: 'local',
      role: 'ada',
      environ: 'dev',
      submittedAtSeconds: 1_700_000_000,
      submittedBy: 'ada',
      engineVersion: '0.1.0',
    }),
  );
  const plan = aPhysicalPlan(topology, packing);
  await store.write(paths.physicalPlan(name), encodePhysicalPlan(plan));
  await store.write(
    paths.topologyMaster(name),
    TopologyMasterLocation.encode(
      TopologyMasterLocation.create({
        topologyName: name,
        topologyId: id,
        host: '127.0.0.1',
        controllerPort: 1,
        serverPort: 1,
        statsPort: 1,
      }),
    ),
  );
  await store.write(paths.token(name), Buffer.from('secret-of-this-topology'));
  const processes = expectedProcesses(packing);
  for (const container of [containerId(0), ...packing.containers.map((one) => one.id)]) {
    const own = new RegExp(String.raw`^(stmgr|metricsmgr|container)[-_]${container}(_|$)`);
    const names = processes.filter((process) =>
      container === 0 ? /^heron|-0$/.test(process) : own.test(process),
    );
    await writeReport(store, topology, aReport(container, names));
  }
}

export function aReport(container: number, names: readonly string[]): ContainerReport {
  return {
    containerId: containerId(container),
    host: `host-${container}`,
    pid: 100 + container,
    startedAtMs: 1_700_000_001_000,
    processes: names.map((process, index) => ({
      name: process,
      pid: 1000 + index,
      state: 'running',
      restarts: 0,
      startedAtMs: 1_700_000_002_000,
      readyAtMs: 1_700_000_003_000,
    })),
  };
}

export async function writeReport(
  store: StateManager,
  { name }: LogicalTopology,
  report: ContainerReport,
): Promise<void> {
  await store.write(paths.container(name, report.containerId), encodeContainerReport(report));
}

export function inMemory(
  name: string,
  tree = new MemoryStateTree(),
): TrackedCluster & {
  readonly stateManager: StateManager;
} {
  const stateManager = new MemoryStateManager(tree);
  return { name, address: `memory:${name}`, stateManager, following: 'watches' };
}

interface AnsweredInTest {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

export interface TrackerInTest {
  readonly tracker: Tracker;
  readonly clock: ManualClock;
  /** The answer's status and what is in it. */
  readonly ask: (path: string, init?: RequestInit) => Promise<AnsweredInTest>;
  /** Lets time pass, and all that it causes. */
  readonly pass: (ms: number) => Promise<void>;
}

/** A Tracker on simulated time that has read what its clusters hold. */
export async function aTracker(
  t: TestContext,
  clusters: readonly TrackedCluster[],
  options: Partial<TrackerOptions> = {},
): Promise<TrackerInTest> {
  const clock = new ManualClock();
  const tracker = createTracker({
    clusters,
    clock,
    logger: silentLogger,
    // Nobody is at the addresses of these trees.
    askRegistrations: () => Promise.resolve({ absent: [] }),
    ...options,
  });
  t.after(() => tracker.close());
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (let round = 0; round < 5; round += 1) {
      await settled();
      clock.runSoon();
    }
  };
  await pass(0);
  await pass(2_000);
  return {
    tracker,
    clock,
    pass,
    async ask(path, init = {}) {
      const request = new Request(`http://localhost:8888${path}`, init);
      request.headers.set('host', 'localhost:8888');
      return answered(await tracker.fetch(request));
    },
  };
}

async function answered(response: Response): Promise<AnsweredInTest> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  const body: unknown = isJson ? JSON.parse(text) : text;
  return { status: response.status, headers: response.headers, body };
}

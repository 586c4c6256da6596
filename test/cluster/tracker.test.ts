import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  topologiesPageSchema,
  type TopologySummary,
} from '../../src/tracker/pages/topologies-page.ts';
import { topologyPageSchema } from '../../src/tracker/pages/topology-page.ts';
import { topologyInfoSchema } from '../../src/tracker/answers/topology-info.ts';
import { aCluster, type Cluster, PATIENTLY } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { RunningWordCount } from '../support/running-word-count.ts';

/*
  `heron tracker` beside a word count of real processes: what it says is what is, while a container
  is killed, and after the end.
*/

const WORDS = 'cluster=local&environ=test&topology=word-count';

interface TrackerProcess {
  ask(path: string): Promise<unknown>;
  text(path: string): Promise<string>;
  end(): Promise<number | null>;
}

async function startTracker(cluster: Cluster): Promise<TrackerProcess> {
  const { child, end } = cluster.begin('tracker', '--port', '0', '--json');
  let line = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    line += chunk.toString();
  });
  await eventually(() => line.includes('\n'), PATIENTLY);
  const { url, clusters } = JSON.parse(line) as { url: string; clusters: readonly string[] };
  assert.deepEqual(clusters, ['local']);
  const get = async (path: string): Promise<Response> => {
    const response = await fetch(`${url}${path}`);
    assert.equal(response.status, 200, `${path}: ${response.ok ? '' : await response.text()}`);
    return response;
  };
  return {
    ask: async (path) => (await get(path)).json(),
    text: async (path) => (await get(path)).text(),
    end: async () => {
      child.kill('SIGINT');
      return (await end).code;
    },
  };
}

async function summaryOf(tracker: TrackerProcess): Promise<TopologySummary | undefined> {
  const page = topologiesPageSchema.parse(await tracker.ask('/api/pages/topologies'));
  return page.clusters[0]?.topologies.find(({ name }) => name === 'word-count');
}

/** Waits until the page of all topologies shows this one so. */
function untilShown(tracker: TrackerProcess, state: string): Promise<TopologySummary> {
  return eventually(async () => {
    const summary = await summaryOf(tracker);
    assert.ok(summary !== undefined, 'it is not shown');
    assert.equal(summary.state, state);
    return summary;
  }, PATIENTLY);
}

async function looksRight(cluster: Cluster, tracker: TrackerProcess): Promise<void> {
  const plan = await cluster.physicalPlan('word-count');
  const info = topologyInfoSchema.parse(await tracker.ask(`/topologies/info?${WORDS}`));
  assert.equal(info.execution_state.status, 'Running');
  assert.equal(info.id, plan.topology.id);
  assert.deepEqual(
    Object.keys(info.physical_plan.instances).toSorted(),
    plan.instances.map(({ id }) => id).toSorted(),
  );
  assert.deepEqual(await tracker.ask('/topologies'), {
    local: { tester: { test: ['word-count'] } },
  });
  const runtime = (await tracker.ask(`/topologies/runtimestate?${WORDS}`)) as {
    readonly stmgrs: unknown;
  };
  assert.deepEqual(runtime.stmgrs, {
    'stmgr-1': { is_registered: true },
    'stmgr-2': { is_registered: true },
  });
  for (const path of ['config', 'packingplan', 'physicalplan', 'logicalplan', 'metadata']) {
    await tracker.ask(`/topologies/${path}?${WORDS}`);
  }
  await tracker.ask('/openapi.json');
  assert.equal(await tracker.text('/health'), 'ok');
}

/** What the shells of the containers answer. */
async function looksInside(cluster: Cluster, tracker: TrackerProcess): Promise<void> {
  const instance = 'container_1_count_5';
  const { pid } = await cluster.process(instance);
  const of = `${WORDS}&instance=${instance}`;
  const { stdout } = (await tracker.ask(`/topologies/pid?${of}`)) as { readonly stdout: string };
  assert.equal(stdout.trim(), String(pid));
  await tracker.ask(`/topologies/jstack?${of}`);
  await tracker.ask(`/topologies/histo?${of}`);
  const inContainer = `${WORDS}&container=1`;
  const stats = await tracker.ask(`/topologies/container/filestats?${inContainer}&path=log-files`);
  const file = `${instance}.log`;
  assert.ok(Object.keys(stats as object).includes(file), JSON.stringify(stats));
  const log = await cluster.log('word-count', 1, file);
  const data = (await tracker.ask(
    `/topologies/container/filedata?${inContainer}&path=log-files/${file}&offset=0&length=100`,
  )) as { readonly data: string };
  assert.ok(log.startsWith(data.data) && data.data.length > 0, data.data);
  const whole = await tracker.text(
    `/topologies/container/filedownload?${inContainer}&path=log-files/${file}`,
  );
  assert.ok(whole.startsWith(data.data) && whole.length >= log.length);
}

/** A container and a process of another one are killed, seen to be missing, and to be back. */
async function survivesKill(cluster: Cluster, tracker: TrackerProcess): Promise<void> {
  const before = await untilShown(tracker, 'RUNNING');
  assert.deepEqual(before.containers, { up: 3, wanted: 3 });
  // So that nobody replaces it before that has been seen.
  const scheduler = await cluster.killProcess('scheduler', 'SIGSTOP');
  const killed = await cluster.killProcess('executor-2');
  const without = await untilShown(tracker, 'DEGRADED');
  assert.deepEqual(without.missing, ['stmgr-2']);
  process.kill(scheduler.pid, 'SIGCONT');
  await eventually(async () => {
    const page = topologyPageSchema.parse(await tracker.ask(`/api/pages/topology?${WORDS}`));
    const container = page.containers.find(({ id }) => id === 2);
    assert.ok(container !== undefined && container.pid !== killed.pid, 'it is not replaced yet');
  }, PATIENTLY);
  const replaced = await untilShown(tracker, 'RUNNING');
  assert.deepEqual(replaced.containers, before.containers);
  assert.deepEqual(replaced.processes, before.processes);

  await cluster.killProcess('stmgr-1');
  await eventually(async () => {
    const page = topologyPageSchema.parse(await tracker.ask(`/api/pages/topology?${WORDS}`));
    const [manager] = page.containers
      .flatMap(({ processes }) => processes)
      .filter(({ name }) => name === 'stmgr-1');
    assert.match(manager?.lastExit?.reason ?? '', /SIGKILL/);
    assert.ok((manager?.restarts ?? 0) > 0);
  }, PATIENTLY);
  await untilShown(tracker, 'RUNNING');
}

async function showsTheEnd(words: RunningWordCount, tracker: TrackerProcess): Promise<void> {
  await words.goOn();
  await words.end();
  await untilShown(tracker, 'COMPLETED');
  // It has completed before its processes are gone.
  await eventually(async () => {
    const { containers } = await untilShown(tracker, 'COMPLETED');
    assert.equal(containers.up, null);
  }, PATIENTLY);
  assert.deepEqual(await tracker.ask('/topologies'), {});
}

test('a Tracker shows a live topology, a container that dies, and the end', async (t) => {
  const cluster = await aCluster(t);
  const tracker = await startTracker(cluster);
  const words = await RunningWordCount.begin(cluster);
  await untilShown(tracker, 'RUNNING');
  await looksRight(cluster, tracker);
  await looksInside(cluster, tracker);
  await survivesKill(cluster, tracker);
  await showsTheEnd(words, tracker);
  assert.equal(await tracker.end(), 0);
});

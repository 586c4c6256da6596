import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createTracker, type Tracker } from '../../src/tracker/tracker.ts';
import { aCluster, type Cluster, PATIENTLY } from '../support/cluster.ts';
import { countedSoFar, nextPublications } from '../support/cluster-metrics.ts';
import { eventually } from '../support/eventually.ts';
import { RunningWordCount } from '../support/running-word-count.ts';

/*
  The numbers of the Tracker are the sums of what the instances have counted: each instance's own
  counters are what its metrics manager writes to its file, publication by publication. Between two
  publications both sides stand still, so they can be compared to the last tuple while tuples flow.
*/

const NAME = 'word-count';
/** Long enough for a comparison to fall between two of them. */
const OFTEN = { 'heron.metrics.export.interval.ms': 2_000 };
/** Each task of the spout stops 2,000 lines before its end, until it may go on. */
const LINES_OF_TASK = 10_000;
const LINES = [LINES_OF_TASK + 2_000, LINES_OF_TASK + 2_000];
const AT_REST = LINES.length * LINES_OF_TASK;

/** What is counted along the way of a word. */
const COUNTED = [
  ['lines', '__emit-count/default'],
  ['split', '__execute-count/lines/default'],
  ['split', '__emit-count/default'],
  ['count', '__execute-count/split/default'],
] as const;

class Watched implements AsyncDisposable {
  readonly #cluster: Cluster;
  readonly #tracker: Tracker;
  #asked = 0;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    const { stateManager } = cluster;
    const local = { name: 'local', address: 'here', stateManager, following: 'looks' } as const;
    const options = { clusters: [local], clock: systemClock, logger: silentLogger };
    this.#tracker = createTracker(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#tracker.close();
  }

  async get(path: string, query: Readonly<Record<string, string>>): Promise<unknown> {
    const [name = '', , environ = ''] = this.#cluster.place.split('/');
    const parameters = new URLSearchParams({ cluster: name, environ, topology: NAME, ...query });
    const url = `http://127.0.0.1${path}?${parameters.toString()}`;
    const response = await this.#tracker.fetch(
      new Request(url, { headers: { Host: '127.0.0.1' } }),
    );
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return JSON.parse(text);
  }

  /** The sum over all instances. */
  async sum(component: string, metricname: string): Promise<number> {
    // More than the topology is old, and never twice the same: answers are kept for a second.
    this.#asked += 1;
    const interval = String(100_000 + this.#asked);
    const answer = await this.get('/topologies/metrics', { component, metricname, interval });
    const { metrics } = answer as { metrics: Record<string, Record<string, string>> };
    const values = Object.values(metrics[metricname] ?? {}).map(Number);
    return values.reduce((sum, value) => sum + value, 0);
  }

  /** Waits for a moment between two publications; the sum that both sides then have. */
  equal(component: string, metric: string): Promise<number> {
    return eventually(async () => {
      const before = countedSoFar(this.#cluster, component, metric);
      const shown = await this.sum(component, metric);
      const after = countedSoFar(this.#cluster, component, metric);
      assert.deepEqual([shown, shown], [before, after], `${component} ${metric}`);
      assert.ok(shown > 0, `${component} has counted nothing of ${metric}`);
      return shown;
    }, PATIENTLY);
  }

  async allEqual(): Promise<readonly number[]> {
    const sums: number[] = [];
    for (const [component, metric] of COUNTED) sums.push(await this.equal(component, metric));
    return sums;
  }
}

async function pageAndTimelineAgree(watched: Watched, sums: readonly number[]): Promise<void> {
  const page = (await watched.get('/api/pages/topology', { range: 'all' })) as {
    readonly figures: { readonly components: Record<string, Record<string, number>> };
  };
  const { lines, split, count } = page.figures.components;
  const shown = [lines?.['emitCount'], split?.['executeCount'], split?.['emitCount']];
  assert.deepEqual([...shown, count?.['executeCount']], sums);
  const now = Math.floor(systemClock.wallNow() / 1000);
  for (const [index, [component, metric]] of COUNTED.entries()) {
    const query = `SUM(TS(${component}, *, ${metric}))`;
    const span = { starttime: String(now - 3_600), endtime: String(now + 60) };
    const answer = await watched.get('/topologies/metrics/query', { query, ...span });
    const [row] = (answer as { timeline: { data: Record<string, number> }[] }).timeline;
    const minutes = Object.values(row?.data ?? {});
    assert.equal(
      minutes.reduce((sum, value) => sum + value, 0),
      sums[index],
    );
  }
}

/** Kills all processes of a container at once, at a moment at which both sides agree about it. */
async function killContainer(cluster: Cluster, watched: Watched, container: number): Promise<void> {
  const isItsInstance = ({ name }: { name: string }): boolean =>
    name.startsWith(`container_${container}_`);
  const instances = cluster.processes().filter(isItsInstance);
  assert.ok(instances.length > 0);
  // Stopped, they publish nothing, so that nothing is on its way to one side only.
  for (const { pid } of instances) process.kill(pid, 'SIGSTOP');
  await watched.allEqual();
  const { containers } = await cluster.status(NAME);
  const report = containers.find(({ id }) => id === container);
  assert.ok(report !== undefined);
  const children = report.processes.flatMap(({ pid }) => pid ?? []);
  for (const pid of [report.pid, ...children]) process.kill(pid, 'SIGKILL');
}

test('the numbers of the Tracker are the sums of the instances’ counters', async (t) => {
  const cluster = await aCluster(t);
  const words = await RunningWordCount.begin(cluster, { lines: LINES, config: OFTEN });
  await using watched = new Watched(cluster);
  await watched.allEqual();

  const atRest = await eventually(async () => {
    assert.equal(await watched.equal('lines', '__emit-count/default'), AT_REST);
    const sums = await watched.allEqual();
    assert.equal(sums[1], AT_REST, 'every line has been split');
    assert.equal(sums[2], sums[3], 'every word has been counted');
    return sums;
  }, PATIENTLY);
  await pageAndTimelineAgree(watched, atRest);

  await killContainer(cluster, watched, 2);
  await eventually(async () => {
    // The lines of the killed task come once more.
    const [emitted = 0] = await watched.allEqual();
    assert.equal(emitted, AT_REST + LINES_OF_TASK);
  }, PATIENTLY);
  for (const component of ['lines', 'split', 'count']) await nextPublications(cluster, component);
  await pageAndTimelineAgree(watched, await watched.allEqual());

  await words.goOn();
  await words.end();
});

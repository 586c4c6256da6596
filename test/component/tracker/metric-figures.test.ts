import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { topologyFigures } from '../../../src/tracker/metrics/figures-schema.ts';
import { summaryFigures } from '../../../src/tracker/pages/page-figures.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { aView, masterAt, MetricsTracker } from '../../support/metrics-tracker.ts';
import { settled } from '../../support/settled.ts';
import { StatisticsPort } from '../../support/statistics-port.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';

const MINUTE_MS = 60_000;
const START_MS = 28_000_000 * MINUTE_MS;
const START = START_MS / 1000;
const COMPONENTS = ['sentences', 'split', 'count'];
const [SPOUT, SPLIT, FIRST, SECOND] = [
  'container_1_sentences_1',
  'container_1_split_2',
  'container_1_count_3',
  'container_2_count_4',
];
const MS = 1_000_000;
const ACKED = aTopology(undefined, { 'topology.reliability.mode': 'ATLEAST_ONCE' });

/** What every task tells in one minute. */
function publishMinute(port: StatisticsPort, minute: number): void {
  port.publish('sentences', SPOUT, {
    '__emit-count/default': 60,
    '__ack-count/default': 30,
    '__fail-count/default': 6,
    '__complete-latency/default': 40 * MS,
    '__pending-acked-count': minute,
  });
  port.publish('sentences', SPOUT, { 'lag/0': 100, 'lag/1': 11 }, 'value');
  port.publish('split', SPLIT, {
    '__emit-count/default': 120,
    '__execute-count/sentences/default': 60,
    '__execute-latency/sentences/default': 500 * MS,
    '__ack-count/sentences/default': 60,
    // By another key the same tuples once more, as Heron's instances tell them.
    '__execute-count/default': 60,
  });
  port.publish('count', FIRST, {
    '__execute-count/split/default': 30,
    '__execute-latency/split/default': 1 * MS,
  });
  port.publish('count', SECOND, {
    '__execute-count/split/default': 90,
    '__execute-latency/split/default': 5 * MS,
  });
  port.measure('count', '__execute-latency/split/default', [1 * MS, 1 * MS, (7 + minute) * MS]);
  port.publish('__stmgr__', 'stmgr-1', {
    [`__time_spent_back_pressure_by_compid/${SECOND}`]: 600,
    [`__connection_buffer_by_instanceid/${SECOND}/bytes`]: 1_000 * minute,
    '__server/__time_spent_back_pressure_aggr': 30_000,
  });
}

async function world(isHerons = false) {
  const clock = new ManualClock(START_MS);
  const port = await StatisticsPort.open({ clock, components: COMPONENTS, isHerons });
  for (let minute = 0; minute < 4; minute += 1) {
    clock.advance(MINUTE_MS / 2);
    publishMinute(port, minute);
    clock.advance(MINUTE_MS / 2);
  }
  const place = isHerons ? { master: masterAt(port.address) } : { metricsCache: port.address };
  const view = aView(place, ACKED);
  const tracker = new MetricsTracker(clock, view);
  const close = () => port[Symbol.asyncDispose]();
  return { clock, port, view, figures: tracker.figures, [Symbol.asyncDispose]: close };
}

describe('figures of a page', () => {
  it('counts, rates, latencies, capacity and back pressure of components and tasks', async () => {
    await using at = await world();
    const page = await at.figures.topology(at.view, '3m');
    assert.deepEqual(topologyFigures.parse(page), page);
    assert.deepEqual(
      [page.reason, page.origin, page.startSeconds, page.endSeconds],
      [null, 'metrics-cache', START + 60, START + 240],
    );
    const { sentences, split, count } = page.components;
    assert.ok(sentences !== undefined && split !== undefined && count !== undefined);
    const { emitCount, emitRate, ackCount, failRate, completeLatencyMs, pending } = sentences;
    assert.deepEqual(
      { emitCount, emitRate, ackCount, failRate, completeLatencyMs, pending },
      {
        emitCount: 180,
        emitRate: 1,
        ackCount: 90,
        failRate: 0.1,
        completeLatencyMs: 40,
        pending: 3,
      },
    );
    assert.deepEqual([split.executeCount, split.capacity], [180, 0.5]);
    assert.equal(split.ackCount, 180);
    assert.equal(count.executeLatencyMs, 4, 'weighed: (30 × 1 + 90 × 5) / 120');
    assert.equal(count.emitCount, null);
    assert.deepEqual(count.instances, [FIRST, SECOND]);
    assert.deepEqual(count.tasks.executeCount, [90, 270]);
    assert.deepEqual(count.tasks.executeLatencyMs, [1, 5]);
    assert.deepEqual(count.tasks.capacity, [0.001, 0.008]);
    assert.equal(count.capacity, 0.008, 'the largest of its tasks');
    assert.deepEqual(count.tasks.backPressureMs, [null, 1_800]);
    assert.deepEqual(count.tasks.queueBytes, [null, 3_000]);
    const { execute, complete } = count.percentiles;
    assert.equal(complete, null);
    assert.ok(Math.abs((execute?.p50 ?? 0) - 1) < 1 / 64);
    assert.equal(execute?.max, 10);
  });

  it('edges, sparklines and the newest errors', async () => {
    await using at = await world();
    at.port.throwIn('split', SPLIT, 'Error: old\n at x', '2026-01-01');
    at.port.throwIn('count', FIRST, 'Error: new\n at y', '2026-01-02');
    const page = await at.figures.topology(at.view, '3m');
    assert.deepEqual(page.edges, [
      { from: 'sentences', stream: 'default', to: 'split', count: 180, rate: 1 },
      { from: 'split', stream: 'default', to: 'count', count: 360, rate: 2 },
    ]);
    assert.deepEqual([page.firstMinuteSeconds, page.minutes], [START + 60, 3]);
    const { sparklines, errors } = page.components['count'] ?? assert.fail();
    assert.deepEqual(sparklines.executeRate, [2, 2, 2]);
    assert.deepEqual(sparklines.executeLatencyMs, [4, 4, 4]);
    assert.deepEqual(sparklines.ackRate, [null, null, null]);
    const newest = { component: 'count', instance: FIRST, at: '2026-01-02', text: 'Error: new' };
    assert.deepEqual(errors, { count: 2, last: { ...newest, count: 2 } });
    assert.deepEqual(
      page.errors.map(({ text }) => text),
      ['Error: new', 'Error: old'],
    );
  });

  it('one question to the store, for each range', async () => {
    await using at = await world();
    for (const range of ['3m', '10m', '1h', '3h', 'all'] as const) {
      await at.figures.topology(at.view, range);
    }
    assert.deepEqual(at.port.asked, Array(5).fill('/series'));
    const all = await at.figures.topology(at.view, 'all');
    assert.equal(all.components['split']?.executeCount, 240);
    assert.equal(all.minutes, 180);
  });

  it('counts of tasks that have gone belong to their component', async () => {
    await using at = await world();
    at.port.publish('count', 'container_3_count_9', { '__execute-count/split/default': 1_000 });
    const { count } = (await at.figures.topology(at.view, 'all')).components;
    assert.equal(count?.executeCount, 4 * 120 + 1_000);
    assert.deepEqual(count?.instances, [FIRST, SECOND]);
  });

  it('are the same from a topology master that knows Heron’s messages only', async () => {
    await using own = await world();
    await using herons = await world(true);
    const ours = await own.figures.topology(own.view, '3m');
    const theirs = await herons.figures.topology(herons.view, '3m');
    assert.deepEqual(theirs.edges, ours.edges);
    const [one, other] = [ours.components['count'], theirs.components['count']];
    assert.deepEqual(other?.tasks.executeLatencyMs, one?.tasks.executeLatencyMs);
    assert.deepEqual(other?.sparklines.executeLatencyMs?.slice(0, 3), [4, 4, 4]);
    assert.deepEqual(other?.tasks.backPressureMs, [null, 1_800]);
  });

  it('without anybody to ask there is a page, and the reason', async () => {
    const clock = new ManualClock(START_MS);
    const view = aView();
    const page = await new MetricsTracker(clock, view).figures.topology(view, '1h');
    assert.match(page.reason ?? '', /neither a topology master nor a metrics cache/);
    assert.deepEqual(Object.keys(page.components), COMPONENTS);
    assert.equal(page.components['count']?.executeCount, null);
    assert.deepEqual(page.components['count']?.tasks.executeCount, [null, null]);
  });

  it('a store that does not answer holds a page up for its time limit only', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    assert.ok(typeof address === 'object' && address !== null);
    const cache = { host: '127.0.0.1', statsPort: address.port, serverPort: 1 };
    const clock = new ManualClock(START_MS);
    const view = aView({ metricsCache: cache });
    const { figures } = new MetricsTracker(clock, view);
    const page = figures.topology(view, '3m');
    clock.advance(1_500);
    assert.match((await page).reason ?? '', /no answer within 1500 ms/);
    const summaries = figures.summaries([view]);
    clock.advance(1_500);
    assert.match((await summaries).get(view.key)?.reason ?? '', /not answered yet/);
    const again = await figures.summaries([view]);
    assert.match(again.get(view.key)?.reason ?? '', /not answered yet/, 'does not wait again');
    assert.equal(clock.pendingTimers, 0);
    silent.close();
  });
});

describe('figures of all topologies', () => {
  it('are rates of the last minutes', async () => {
    await using at = await world();
    at.port.throwIn('count', FIRST, 'Error: new\n at y', 'now');
    const found = (await at.figures.summaries([at.view])).get(at.view.key);
    assert.deepEqual(summaryFigures.parse(found), found);
    assert.deepEqual(found, {
      reason: null,
      emitRate: 1,
      executeRate: 3,
      ackRate: 0.5,
      failRate: 0.1,
      failCount: 18,
      completeLatencyMs: 40,
      backPressure: 0.5,
      lag: 111,
      lastError: { component: 'count', instance: FIRST, at: 'now', text: 'Error: new', count: 2 },
    });
  });

  it('at most once fails are those of bolts', async () => {
    await using at = await world();
    at.port.publish('split', SPLIT, { '__fail-count/sentences/default': 9 });
    const view = aView({ metricsCache: at.port.address });
    at.clock.advance(MINUTE_MS);
    const found = (await at.figures.summaries([view])).get(view.key);
    assert.deepEqual([found?.failCount, found?.ackRate], [9, null]);
  });

  it('show at once what is known, and ask again behind the page', async () => {
    await using at = await world();
    const first = (await at.figures.summaries([at.view])).get(at.view.key);
    at.port.publish('sentences', SPOUT, { '__emit-count/default': 600 });
    at.clock.advance(MINUTE_MS);
    assert.deepEqual((await at.figures.summaries([at.view])).get(at.view.key), first);
    let later = first;
    while (later?.emitRate === first?.emitRate) {
      await settled(); // The answer is under way: it comes by a real connection.
      later = (await at.figures.summaries([at.view])).get(at.view.key);
    }
    assert.equal(later?.emitRate, (2 * 60 + 600) / 180);
    assert.equal(at.port.asked.length, 2);
  });

  it('a topology without components has none', async () => {
    const clock = new ManualClock(START_MS);
    await using port = await StatisticsPort.open({ clock, components: [] });
    const lonely = aTopology([aSpout('s'), aBolt('b', ['s'])]);
    const view = aView({ metricsCache: port.address, topology: undefined }, lonely);
    const { figures } = new MetricsTracker(clock, view);
    const found = (await figures.summaries([view])).get(view.key);
    assert.deepEqual([found?.reason, found?.emitRate], [null, null]);
    assert.deepEqual((await figures.topology(view, 'all')).components, {});
  });
});

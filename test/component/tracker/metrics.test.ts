import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '../../support/manual-clock.ts';
import { aView, masterAt, MetricsTracker } from '../../support/metrics-tracker.ts';
import { StatisticsPort } from '../../support/statistics-port.ts';

const MINUTE_MS = 60_000;
/** A whole minute. */
const START_MS = 28_000_000 * MINUTE_MS;
const START = START_MS / 1000;
const COMPONENTS = ['sentences', 'split', 'count'];
const EXECUTED = '__execute-count/split/default';
const LATENCY = '__execute-latency/split/default';
const FIRST = 'container_1_count_3';
const SECOND = 'container_2_count_4';

interface World extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly port: StatisticsPort;
  readonly tracker: MetricsTracker;
}

/** Two tasks that executed 10 and 20, 11 and 21, 12 and 22 tuples in three minutes. */
async function world(isHerons = false): Promise<World> {
  const clock = new ManualClock(START_MS);
  const port = await StatisticsPort.open({
    clock,
    components: COMPONENTS,
    isHerons,
    dialect: isHerons ? 'topology-master' : 'metrics-cache',
  });
  for (let minute = 0; minute < 3; minute += 1) {
    clock.advance(MINUTE_MS / 2);
    port.publish('count', FIRST, { [EXECUTED]: 10 + minute, [LATENCY]: 2_000_000 });
    port.publish('count', SECOND, { [EXECUTED]: 20 + minute, [LATENCY]: 8_000_000 });
    clock.advance(MINUTE_MS / 2);
  }
  const view = isHerons
    ? aView({ master: masterAt(port.address) })
    : aView({ metricsCache: port.address });
  const tracker = new MetricsTracker(clock, view);
  return { clock, port, tracker, [Symbol.asyncDispose]: () => port[Symbol.asyncDispose]() };
}

const SPAN = { starttime: String(START), endtime: String(START + 180) };

for (const isHerons of [false, true]) {
  const whose = isHerons ? 'a topology master that knows Heron’s messages only' : 'our own store';

  describe(`metrics from ${whose}`, () => {
    it('one number for each metric of each instance, as text', async () => {
      await using at = await world(isHerons);
      const query = { component: 'count', metricname: [EXECUTED, LATENCY] };
      const all = { [FIRST]: '33.000000', [SECOND]: '63.000000' };
      assert.deepEqual(await at.tracker.get('metrics', query), {
        status: 200,
        json: {
          interval: START + 180,
          component: 'count',
          metrics: {
            [EXECUTED]: all,
            [LATENCY]: { [FIRST]: '2000000.000000', [SECOND]: '8000000.000000' },
          },
        },
      });
      const newest = { component: 'count', metricname: EXECUTED, instance: SECOND, interval: '90' };
      assert.deepEqual((await at.tracker.get('metrics', newest)).json, {
        interval: 90,
        component: 'count',
        metrics: { [EXECUTED]: { [SECOND]: '43.000000' } },
      });
    });

    it('a point a minute, as numbers and in the older form as text', async () => {
      await using at = await world(isHerons);
      const query = { component: 'count', metricname: EXECUTED, instance: FIRST, ...SPAN };
      const points = { [START]: 10, [START + 60]: 11, [START + 120]: 12 };
      const about = { component: 'count', starttime: START, endtime: START + 180 };
      assert.deepEqual(await at.tracker.get('metrics/timeline', query), {
        status: 200,
        json: { ...about, timeline: { [EXECUTED]: { [FIRST]: points } } },
      });
      const texts = Object.fromEntries(
        Object.entries(points).map(([minute, value]) => [minute, value.toFixed(6)]),
      );
      assert.deepEqual((await at.tracker.get('metricstimeline', query)).json, {
        ...about,
        timeline: { [EXECUTED]: { [FIRST]: texts } },
      });
    });

    it('queries, over whole minutes and with one question to the store', async () => {
      await using at = await world(isHerons);
      const ts = `TS(count, *, ${EXECUTED})`;
      const ask = (query: string) => at.tracker.get('metrics/query', { query, ...SPAN });
      const summed = await ask(`SUM(${ts}, MULTIPLY(TS(count,${FIRST},${EXECUTED}), 0.5))`);
      assert.deepEqual(summed.json, {
        starttime: START,
        endtime: START + 180,
        timeline: [
          {
            instance: null,
            data: { [START]: 35, [START + 60]: 37.5, [START + 120]: 40, [START + 180]: 0 },
          },
        ],
      });
      const before = at.port.asked.length;
      assert.deepEqual((await ask(`RATE(${ts})`)).json, {
        starttime: START,
        endtime: START + 180,
        timeline: [
          { instance: FIRST, data: { [START + 60]: 1, [START + 120]: 1 } },
          { instance: SECOND, data: { [START + 60]: 1, [START + 120]: 1 } },
        ],
      });
      assert.equal(at.port.asked.length, before + 1);
      assert.deepEqual(((await ask('5')).json as { timeline: unknown[] }).timeline.length, 1);
    });

    it('what was thrown, whole and by class, with counts as text', async () => {
      await using at = await world(isHerons);
      at.port.throwIn('count', FIRST, 'TypeError: bad\n at execute');
      at.port.throwIn('split', 'container_1_split_2', 'RangeError: far');
      const thrown = {
        hostname: 'host',
        instance_id: FIRST,
        stacktrace: 'TypeError: bad\n at execute',
        lasttime: 'later',
        firsttime: 'early',
        count: '2',
        logging: '',
      };
      const ask = (path: string, component: string, instance: readonly string[] = []) =>
        at.tracker.get(path, { component, instance });
      assert.deepEqual(await ask('exceptions', 'count'), { status: 200, json: [thrown] });
      assert.deepEqual((await ask('exceptions', 'count', [SECOND])).json, []);
      const summary = {
        class_name: 'TypeError',
        lasttime: 'later',
        firsttime: 'early',
        count: '2',
      };
      assert.deepEqual((await ask('exceptionsummary', 'count')).json, [summary]);
      assert.deepEqual((await ask('exceptionsummary', 'All')).json, [
        { ...summary, class_name: 'RangeError' },
        summary,
      ]);
    });
  });
}

describe('metrics paths', () => {
  it('without metricname our stores tell all; of Heron’s names are asked for', async () => {
    await using own = await world();
    const { json } = await own.tracker.get('metrics', { component: 'count' });
    assert.deepEqual(Object.keys((json as { metrics: object }).metrics), [EXECUTED, LATENCY]);
    await using herons = await world(true);
    assert.deepEqual(await herons.tracker.get('metrics', { component: 'count' }), {
      status: 400,
      json:
        "the metrics of 'words' are kept by a process of Heron's, which lists none: " +
        'name each with metricname=…',
    });
  });

  it('a metric that Heron’s topology master has no type for is never asked for', async () => {
    await using at = await world(true);
    at.port.publish('count', FIRST, { mine: 1 });
    const query = { component: 'count', metricname: ['mine', EXECUTED], instance: FIRST };
    assert.deepEqual((await at.tracker.get('metrics', query)).json, {
      interval: START + 180,
      component: 'count',
      metrics: { [EXECUTED]: { [FIRST]: '33.000000' } },
    });
  });

  it('bad input is refused in words', async () => {
    await using at = await world();
    const refused = async (path: string, query: Readonly<Record<string, string>>) => {
      const { status, json } = await at.tracker.get(path, query);
      assert.equal(status, 400);
      return json;
    };
    const unknown = "'words' has no component 'spli'; it has sentences, split, count";
    assert.equal(await refused('metrics', { component: 'spli' }), unknown);
    assert.equal(await refused('exceptions', { component: 'spli' }), unknown);
    assert.equal(await refused('metrics/query', { query: 'TS(spli, *, m)', ...SPAN }), unknown);
    assert.match(String(await refused('metrics', {})), /component/);
    const late = { starttime: '120', endtime: '60' };
    const after = 'starttime 120 is after endtime 60';
    assert.equal(await refused('metrics/timeline', { component: 'count', ...late }), after);
    assert.equal(await refused('metricstimeline', { component: 'count', ...late }), after);
    assert.equal(await refused('metrics/query', { query: '1', ...late }), after);
    const long = { starttime: '0', endtime: '1000000' };
    assert.match(String(await refused('metrics/query', { query: '1', ...long })), /at most 1440/);
    const text = await refused('metrics/query', { query: 'SUM(', ...SPAN });
    assert.match(String(text), /^character 5 of the query: expected/);
  });

  it('a component that has told nothing has no metrics', async () => {
    await using at = await world();
    const { status, json } = await at.tracker.get('metrics', { component: 'split' });
    assert.deepEqual([status, (json as { metrics: object }).metrics], [200, {}]);
    const timeline = await at.tracker.get('metrics/timeline', { component: 'split', ...SPAN });
    assert.deepEqual((timeline.json as { timeline: object }).timeline, {});
  });

  it('the engine’s own processes are components, too', async () => {
    await using at = await world();
    const held = '__server/__time_spent_back_pressure_initiated';
    at.port.publish('__stmgr__', 'stmgr-1', { [held]: 5 });
    const { json } = await at.tracker.get('metrics', { component: '__stmgr__' });
    assert.deepEqual((json as { metrics: object }).metrics, { [held]: { 'stmgr-1': '5.000000' } });
  });
});

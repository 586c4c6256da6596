import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Histogram } from '../../../src/metrics/histogram.ts';
import { HistogramLog } from '../../../src/metrics-store/histogram-log.ts';
import { ExceptionLog } from '../../../src/metrics-store/exception-log.ts';
import { MetricsCollector } from '../../../src/metrics-store/metrics-collector.ts';
import { answerSeries } from '../../../src/metrics-store/series-answers.ts';
import {
  type SeriesAnswer,
  seriesAnswerOf,
  type SeriesPart,
  type SeriesQuestion,
  seriesQueryOf,
} from '../../../src/topology-client/series.ts';
import { StatusCode } from '../../../src/wire/messages.ts';
import { QuerySeries } from '../../../src/wire/series-messages.ts';

const MINUTE = 60;
/** In the 1,000th minute, half a minute in. */
const NOW = 1_000 * MINUTE + 30;
const COUNT = '__execute-count/split/default';
const LATENCY = '__execute-latency/split/default';

interface World {
  readonly metrics: MetricsCollector;
  readonly histograms: HistogramLog;
  readonly exceptions: ExceptionLog;
  readonly sinceSeconds: number;
}

function world(sinceSeconds = 900 * MINUTE): World {
  const metrics = new MetricsCollector();
  const add = (instance: string, name: string, minute: number, value: number): void => {
    const source = { component: 'count', instance };
    metrics.add(source, { name, value: String(value) }, minute * MINUTE + 10);
  };
  add('a', COUNT, 990, 100);
  add('a', COUNT, 997, 10);
  add('a', COUNT, 998, 30);
  add('a', COUNT, 1_000, 7);
  add('a', LATENCY, 997, 500);
  add('a', LATENCY, 998, 100);
  add('b', COUNT, 998, 1);
  add('b', LATENCY, 998, 900);
  metrics.add({ component: '__stmgr__', instance: 'stmgr-1' }, held('a', 20), 998 * MINUTE);
  metrics.add({ component: '__stmgr__', instance: 'stmgr-1' }, held('b', 30), 998 * MINUTE);
  const histograms = new HistogramLog();
  for (const [minute, sizes] of [
    [997, [1, 1, 1]],
    [998, [90]],
  ] as const) {
    const histogram = new Histogram();
    for (const size of sizes) histogram.record(size);
    histograms.add('count', LATENCY, histogram, minute * MINUTE + 10);
  }
  return { metrics, histograms, exceptions: new ExceptionLog(), sinceSeconds };
}

function held(instance: string, ms: number) {
  return { name: `__time_spent_back_pressure_by_compid/${instance}`, value: String(ms) };
}

/** Through the bytes, as it travels. */
function ask(question: SeriesQuestion, from: World = world()): SeriesAnswer {
  const bytes = QuerySeries.request.encode(seriesQueryOf(question));
  const query = QuerySeries.request.decode(bytes);
  const components = new Set<string>();
  const facts = { ...from, components, nowSeconds: NOW, dialect: 'metrics-cache' as const };
  const answer = QuerySeries.response.encode(answerSeries(query, facts));
  return seriesAnswerOf(QuerySeries.response.decode(answer));
}

function shown({ tables }: SeriesAnswer) {
  return tables.map(({ part, component, rows, firstSeconds, columns }) => ({
    part,
    component,
    rows: rows.map(({ instance, metric, points }) => [instance, metric, ...points]),
    first: firstSeconds / MINUTE,
    columns,
  }));
}

const part = (fields: Partial<SeriesPart> = {}): SeriesPart => ({
  shape: 'totals',
  components: ['count'],
  metrics: [COUNT],
  ...fields,
});

const LAST_THREE = { kind: 'minutes', minutes: 3 } as const;
const EVERYTHING = { kind: 'everything' } as const;

describe('answers about many series', () => {
  it('totals of whole minutes leave out the one that is under way', () => {
    const answer = ask({ span: LAST_THREE, parts: [part()] });
    assert.deepEqual(shown(answer)[0]?.rows, [
      ['a', COUNT, 40],
      ['b', COUNT, 1],
    ]);
    assert.deepEqual([answer.startSeconds, answer.endSeconds], [997 * MINUTE, 1_000 * MINUTE]);
  });

  it('a store that is young counts the minute that is under way, from its start', () => {
    const young = world(999 * MINUTE + 5);
    const answer = ask({ span: LAST_THREE, parts: [part()] }, young);
    assert.deepEqual(shown(answer)[0]?.rows[0], ['a', COUNT, 47]);
    assert.deepEqual([answer.startSeconds, answer.endSeconds], [999 * MINUTE + 5, NOW]);
  });

  it('everything is totals from the start and the minutes that are remembered', () => {
    const minutes = part({ shape: 'minutes', instances: ['a'] });
    const answer = ask({ span: EVERYTHING, parts: [part(), minutes] });
    const [totals, table] = shown(answer);
    assert.deepEqual(totals?.rows[0], ['a', COUNT, 147]);
    assert.deepEqual([table?.first, table?.columns], [1_000 - 179, 180]);
    assert.equal(table?.rows[0]?.at(2 + 990 - 821), 100);
    assert.deepEqual([answer.startSeconds, answer.endSeconds], [900 * MINUTE, NOW]);
  });

  it('minutes of an interval, and of the last seconds, are those that overlap', () => {
    const interval = {
      kind: 'interval',
      startSeconds: 997 * MINUTE + 59,
      endSeconds: NOW,
    } as const;
    const parts = [part({ shape: 'minutes' })];
    const expected = [
      {
        part: 0,
        component: 'count',
        rows: [
          ['a', COUNT, 10, 30, Number.NaN, 7],
          ['b', COUNT, Number.NaN, 1, Number.NaN, Number.NaN],
        ],
        first: 997,
        columns: 4,
      },
    ];
    assert.deepEqual(shown(ask({ span: interval, parts })), expected);
    assert.deepEqual(shown(ask({ span: { kind: 'seconds', seconds: 200 }, parts })), expected);
    const past = { kind: 'interval', startSeconds: 0, endSeconds: 990 * MINUTE } as const;
    assert.equal(shown(ask({ span: past, parts }))[0]?.rows[0]?.at(-1), 100);
    const future = { kind: 'interval', startSeconds: NOW + 600, endSeconds: NOW + 700 } as const;
    assert.deepEqual(shown(ask({ span: future, parts }))[0]?.rows[0], ['a', COUNT]);
  });

  it('minutes of all add counts, and weigh means by the counts that belong to them', () => {
    const parts = [
      part({ shape: 'minutes-of-all', metrics: [COUNT, LATENCY], weights: ['', COUNT] }),
    ];
    const weighed = (100 * 30 + 900 * 1) / 31;
    assert.deepEqual(shown(ask({ span: LAST_THREE, parts }))[0]?.rows, [
      ['', COUNT, 10, 31, Number.NaN],
      ['', LATENCY, 500, weighed, Number.NaN],
    ]);
    const plain = [part({ shape: 'minutes-of-all', metrics: [LATENCY] })];
    assert.deepEqual(shown(ask({ span: LAST_THREE, parts: plain }))[0]?.rows, [
      ['', LATENCY, 500, 500, Number.NaN],
    ]);
  });

  it('percentiles are those of all tasks together, in a row of their own', () => {
    const metrics = [COUNT, `${LATENCY}/p50`, `${LATENCY}/max`];
    const parts = [
      part({ metrics }),
      part({ shape: 'minutes', metrics, instances: ['*'] }),
      part({ metrics, instances: ['a'] }),
    ];
    const [totals, minutes, ofOne] = shown(ask({ span: LAST_THREE, parts }));
    assert.deepEqual(totals?.rows, [
      ['a', COUNT, 40],
      ['b', COUNT, 1],
      ['*', `${LATENCY}/p50`, 1.015625],
      ['*', `${LATENCY}/max`, 90],
    ]);
    assert.deepEqual(minutes?.rows, [
      ['*', `${LATENCY}/p50`, 1, 90, Number.NaN],
      ['*', `${LATENCY}/max`, 1, 90, Number.NaN],
    ]);
    assert.deepEqual(ofOne?.rows, [['a', COUNT, 40]]);
  });

  it('no component, instance or metric means all; a star means all below', () => {
    const all = shown(ask({ span: EVERYTHING, parts: [part({ components: [], metrics: [] })] }));
    assert.deepEqual(
      all.map(({ component, rows }) => [component, rows.length]),
      [
        ['count', 4],
        ['__stmgr__', 2],
      ],
    );
    const below = part({
      components: ['__stmgr__'],
      metrics: ['__time_spent_back_pressure_by_compid/*', COUNT],
    });
    assert.deepEqual(shown(ask({ span: EVERYTHING, parts: [below] }))[0]?.rows, [
      ['stmgr-1', held('a', 0).name, 20],
      ['stmgr-1', held('b', 0).name, 30],
    ]);
  });

  it('what is not there is left out', () => {
    const parts = [
      part({ components: ['nobody'] }),
      part({ instances: ['c'] }),
      part({ metrics: ['none'] }),
      part({ instances: ['c', 'b'] }),
    ];
    const found = shown(ask({ span: EVERYTHING, parts }));
    assert.deepEqual(
      found.map(({ part: index, rows }) => [index, rows]),
      [[3, [['b', COUNT, 1]]]],
    );
  });

  it('the newest exceptions of each component come with how many there were', () => {
    const from = world();
    const thrown = (component: string, stackTrace: string, count: number): void =>
      from.exceptions.add({
        component,
        instance: `${component}-${count}`,
        hostname: 'host',
        stackTrace,
        firstTime: 'monday',
        lastTime: 'tuesday',
        count,
        logging: '',
      });
    thrown('count', 'Error: first', 1);
    thrown('split', 'Error: other', 5);
    thrown('count', `Error: second ${'x'.repeat(3_000)}`, 2);
    thrown('count', 'Error: third', 4);
    const { errors } = ask({ span: EVERYTHING, parts: [], exceptionsMax: 2 }, from);
    assert.deepEqual(
      errors.map(({ component, count, newest }) => [
        component,
        count,
        newest.map(({ instance, stackTrace }) => `${instance} ${stackTrace.slice(0, 13)}`),
      ]),
      [
        ['count', 7, ['count-2 Error: second', 'count-4 Error: third']],
        ['split', 5, ['split-5 Error: other']],
      ],
    );
    assert.equal(errors[0]?.newest[0]?.stackTrace.length, 2_000);
    assert.deepEqual(ask({ span: EVERYTHING, parts: [] }, from).errors, []);
  });

  it('what is too much is refused in words', () => {
    const many = Array.from({ length: 60_000 }, () =>
      part({ shape: 'minutes', metrics: [COUNT, LATENCY] }),
    );
    assert.throws(
      () => ask({ span: { kind: 'seconds', seconds: 90_000 }, parts: many }),
      /more than 4194304|at most 4194304 are given: ask for fewer instances/,
    );
    const query = seriesQueryOf({ span: EVERYTHING, parts: many });
    const facts = { ...world(), components: new Set<string>(), nowSeconds: NOW };
    const answer = answerSeries(query, { ...facts, dialect: 'topology-master' });
    assert.equal(answer.status?.status, StatusCode.NOTOK);
    assert.equal(answer.table.length, 0);
  });
});

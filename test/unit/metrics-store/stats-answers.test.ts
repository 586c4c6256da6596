import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExceptionLog } from '../../../src/metrics-store/exception-log.ts';
import { MetricsCollector } from '../../../src/metrics-store/metrics-collector.ts';
import {
  answerExceptions,
  answerExceptionSummary,
  answerMetrics,
  type StatsFacts,
} from '../../../src/metrics-store/stats-answers.ts';
import { QueryExceptions, QueryMetrics, StatusCode } from '../../../src/wire/messages.ts';

const EMITTED = '__emit-count/default';
const NOW_SECONDS = 100_000;

/** One old bucket, and two in the last minutes. */
function facts(dialect: StatsFacts['dialect'] = 'topology-master'): StatsFacts {
  const metrics = new MetricsCollector();
  const add = (instance: string, value: string, secondsAgo: number): void =>
    metrics.add(
      { component: 'word', instance },
      { name: EMITTED, value },
      NOW_SECONDS - secondsAgo,
    );
  add('container_1_word_1', '5', 50_000);
  add('container_1_word_1', '30', 200);
  add('container_1_word_1', '10', 10);
  add('container_1_word_2', '40', 10);
  const exceptions = new ExceptionLog();
  for (const count of [1, 2]) {
    exceptions.add({
      component: 'word',
      instance: 'container_1_word_1',
      hostname: 'h',
      stackTrace: 'TypeError: x',
      firstTime: 'a',
      lastTime: 'b',
      count,
      logging: '',
    });
  }
  return {
    metrics,
    exceptions,
    components: new Set(['word', 'count']),
    nowSeconds: NOW_SECONDS,
    sinceSeconds: 0,
    dialect,
  };
}

type Query = Parameters<typeof QueryMetrics.request.create>[0];

function ask(fields: Query) {
  const query = { componentName: 'word', metric: [EMITTED], ...fields };
  return answerMetrics(QueryMetrics.request.create(query), facts());
}

function valuesOf(answer: ReturnType<typeof ask>) {
  return answer.metric.map(({ instanceId, metric }) => [
    instanceId,
    ...metric.map(({ name, value }) => `${name}=${value}`),
  ]);
}

test('an interval counts back from now', () => {
  const answer = ask({ interval: 60n });
  assert.equal(answer.status?.status, StatusCode.OK);
  assert.equal(answer.interval, 60n);
  assert.deepEqual(valuesOf(answer), [
    ['container_1_word_1', `${EMITTED}=10.000000`],
    ['container_1_word_2', `${EMITTED}=40.000000`],
  ]);
});

test('no end of an interval is everything since the start', () => {
  for (const interval of [0n, -1n]) {
    const answer = ask({ interval, instanceId: ['container_1_word_1'] });
    assert.deepEqual(valuesOf(answer), [['container_1_word_1', `${EMITTED}=45.000000`]]);
  }
});

test('by the minute, newest first', () => {
  const start = BigInt(NOW_SECONDS - 300);
  const answer = ask({
    instanceId: ['container_1_word_1'],
    explicitInterval: { start, end: BigInt(NOW_SECONDS) },
    minutely: true,
  });
  assert.equal(answer.interval, 300n);
  const [metric] = answer.metric[0]?.metric ?? [];
  assert.deepEqual(
    metric?.intervalValues.map(({ value, interval }) => [value, interval?.start, interval?.end]),
    [
      ['10.000000', 99_960n, 100_020n],
      ['30.000000', 99_780n, 99_840n],
    ],
  );
});

test('an average of nothing is nan', () => {
  const { metrics, ...rest } = facts();
  const name = '__execute-latency/default';
  const source = { component: 'word', instance: 'container_1_word_1' };
  metrics.add(source, { name, value: '3' }, 1);
  const query = QueryMetrics.request.create({
    componentName: 'word',
    instanceId: ['container_1_word_1'],
    metric: [name],
    interval: 60n,
  });
  const answer = answerMetrics(query, { metrics, ...rest });
  assert.deepEqual(valuesOf(answer), [['container_1_word_1', `${name}=nan`]]);
});

test('a metric that nobody knows is left out', () => {
  assert.deepEqual(valuesOf(ask({ interval: 60n, metric: ['__ack-count/default'] })), [
    ['container_1_word_1'],
    ['container_1_word_2'],
  ]);
});

const REFUSED: ReadonlyArray<readonly [Query, string]> = [
  [{ componentName: 'count', interval: 60n }, 'Metrics not available for component `count`'],
  [{ componentName: 'wrod', interval: 60n }, 'Unknown component: wrod'],
  [{}, 'No interval or explicit interval set'],
  [{ interval: 60n, instanceId: ['container_9_word_9'] }, ''],
];

for (const [fields, message] of REFUSED) {
  test(`refused: ${message || 'an unknown instance, without a text'}`, () => {
    const { status, metric } = ask(fields);
    assert.equal(status?.status, StatusCode.NOTOK);
    assert.equal(status?.message, message);
    assert.deepEqual(metric, []);
  });
}

test('exceptions are told one by one, or summed up', () => {
  const query = QueryExceptions.request.create({ componentName: 'word' });
  const each = answerExceptions(query, facts());
  assert.equal(each.status?.message, 'OK');
  assert.deepEqual(
    each.exceptions.map(({ stacktrace, count }) => [stacktrace, count]),
    [
      ['TypeError: x', 1],
      ['TypeError: x', 2],
    ],
  );
  const summary = answerExceptionSummary(query, facts());
  assert.deepEqual(
    summary.exceptions.map(({ stacktrace, count }) => [stacktrace, count]),
    [['TypeError', 3]],
  );
});

test('exceptions of an unknown component are refused, none are an empty answer', () => {
  const askFor = (componentName: string) =>
    answerExceptions(QueryExceptions.request.create({ componentName }), facts());
  assert.equal(askFor('wrod').status?.message, 'Unknown component');
  assert.deepEqual(askFor('count').exceptions, []);
});

test('the metrics cache gives the ends of buckets in milliseconds', () => {
  const query = QueryMetrics.request.create({
    componentName: 'word',
    instanceId: ['container_1_word_1'],
    metric: [EMITTED],
    interval: 300n,
    minutely: true,
  });
  const [metric] = answerMetrics(query, facts('metrics-cache')).metric[0]?.metric ?? [];
  assert.deepEqual(
    metric?.intervalValues.map(({ value, interval }) => [value, interval?.start, interval?.end]),
    [
      ['10.000000', 99_960_000n, 100_020_000n],
      ['30.000000', 99_780_000n, 99_840_000n],
    ],
  );
});

test('the metrics cache says a single bucket as one value', () => {
  const query = QueryMetrics.request.create({
    componentName: 'word',
    instanceId: ['container_1_word_2'],
    metric: [EMITTED],
    interval: 300n,
    minutely: true,
  });
  const [ofCache] = answerMetrics(query, facts('metrics-cache')).metric[0]?.metric ?? [];
  assert.deepEqual([ofCache?.value, ofCache?.intervalValues.length], ['40.000000', 0]);
  const [ofMaster] = answerMetrics(query, facts()).metric[0]?.metric ?? [];
  assert.equal(ofMaster?.intervalValues.length, 1);
});

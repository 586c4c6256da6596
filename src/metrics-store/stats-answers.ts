import { QueryExceptions, QueryMetrics, StatusCode, type ValueOf } from '../wire/messages.ts';
import { type ExceptionLog, type ExceptionRecord, summarize } from './exception-log.ts';
import type { MetricSeries, Window } from './metric-series.ts';
import type { InstanceMetrics, MetricsCollector } from './metrics-collector.ts';

/*
  Answers to the questions of Heron's Tracker and UI, with Heron's rules and texts. Pure but for the
  collections that they read.

  The two processes of Heron that answer them differ (`dialect`): the metrics cache gives the ends
  of a bucket in milliseconds, and says a single bucket's value as if nobody had asked for buckets.
*/

type MetricQuery = ValueOf<typeof QueryMetrics.request>;
type MetricAnswer = ValueOf<typeof QueryMetrics.response>;
type ExceptionQuery = ValueOf<typeof QueryExceptions.request>;
type ExceptionAnswer = ValueOf<typeof QueryExceptions.response>;

export type StatsDialect = 'topology-master' | 'metrics-cache';

export interface StatsFacts {
  readonly metrics: MetricsCollector;
  readonly exceptions: ExceptionLog;
  /** Names of the topology's components. */
  readonly components: ReadonlySet<string>;
  /** By the wall clock. */
  readonly nowSeconds: number;
  /** Which of Heron's processes answers. */
  readonly dialect: StatsDialect;
}

const MS_PER_SECOND = 1000n;
const OK = { status: StatusCode.OK };

export function answerMetrics(query: MetricQuery, facts: StatsFacts): MetricAnswer {
  const instances = facts.metrics.component(query.componentName);
  if (instances === undefined) {
    const isKnown = facts.components.has(query.componentName);
    return refuse(
      isKnown
        ? `Metrics not available for component \`${query.componentName}\``
        : `Unknown component: ${query.componentName}`,
    );
  }
  const window = windowOf(query, facts.nowSeconds);
  if (window === undefined) return refuse('No interval or explicit interval set');
  const asked = query.instanceId.length > 0 ? query.instanceId : [...instances.keys()];
  const tasks: { readonly id: string; readonly metrics: InstanceMetrics }[] = [];
  for (const id of asked) {
    const metrics = instances.get(id);
    if (metrics === undefined) return refuse(undefined);
    tasks.push({ id, metrics });
  }
  return QueryMetrics.response.create({
    status: OK,
    metric: tasks.map(({ id, metrics }) => ({
      instanceId: id,
      metric: query.metric.flatMap((name) => {
        const series = metrics.get(name);
        return series === undefined
          ? []
          : [
              individual(name, series, {
                window,
                minutely: query.minutely,
                dialect: facts.dialect,
              }),
            ];
      }),
    })),
    interval: BigInt(window.endSeconds - window.startSeconds),
  });
}

function refuse(message: string | undefined): MetricAnswer {
  const status = { status: StatusCode.NOTOK, ...(message !== undefined && { message }) };
  return QueryMetrics.response.create({ status });
}

/** An interval counts back from now; 0 or less means everything. */
function windowOf(query: MetricQuery, nowSeconds: number): Window | undefined {
  const { explicitInterval } = query;
  if (explicitInterval !== undefined) {
    return {
      startSeconds: Number(explicitInterval.start),
      endSeconds: Number(explicitInterval.end),
    };
  }
  if (!Object.hasOwn(query, 'interval')) return undefined;
  const seconds = Number(query.interval);
  return { startSeconds: seconds <= 0 ? 0 : nowSeconds - seconds, endSeconds: nowSeconds };
}

function individual(
  name: string,
  series: MetricSeries,
  {
    window,
    minutely,
    dialect,
  }: { readonly window: Window; readonly minutely: boolean; readonly dialect: StatsDialect },
) {
  if (!minutely) {
    const isEverything = window.startSeconds === 0;
    return { name, value: textOf(isEverything ? series.total() : series.over(window)) };
  }
  const isCache = dialect === 'metrics-cache';
  const buckets = series.bucketsIn(window);
  const [only, ...others] = buckets;
  if (isCache && only !== undefined && others.length === 0) {
    return { name, value: textOf(only.value) };
  }
  const scale = isCache ? MS_PER_SECOND : 1n;
  const intervalValues = buckets.map(({ value, startSeconds, endSeconds }) => ({
    value: textOf(value),
    interval: { start: BigInt(startSeconds) * scale, end: BigInt(endSeconds) * scale },
  }));
  return { name, intervalValues };
}

/** As C++ writes a double; readers of Heron's answers know these forms. */
function textOf(value: number): string {
  return Number.isNaN(value) ? 'nan' : value.toFixed(6);
}

export function answerExceptions(query: ExceptionQuery, facts: StatsFacts): ExceptionAnswer {
  return exceptionAnswer(query, facts, (records) => records);
}

export function answerExceptionSummary(query: ExceptionQuery, facts: StatsFacts): ExceptionAnswer {
  return exceptionAnswer(query, facts, summarize);
}

function exceptionAnswer(
  { componentName, instances }: ExceptionQuery,
  facts: StatsFacts,
  shape: (records: readonly ExceptionRecord[]) => readonly ExceptionRecord[],
): ExceptionAnswer {
  if (!facts.components.has(componentName)) {
    const status = { status: StatusCode.NOTOK, message: 'Unknown component' };
    return QueryExceptions.response.create({ status });
  }
  const records = shape(facts.exceptions.of(componentName, instances));
  return QueryExceptions.response.create({
    status: { ...OK, message: 'OK' },
    exceptions: records.map((record) => ({
      componentName: record.component,
      hostname: record.hostname,
      instanceId: record.instance,
      stacktrace: record.stackTrace,
      lasttime: record.lastTime,
      firsttime: record.firstTime,
      count: record.count,
      logging: record.logging,
    })),
  });
}

import { QueryExceptions, QueryMetrics, StatusCode, type ValueOf } from '../wire/messages.ts';
import { type ExceptionLog, type ExceptionRecord, summarize } from './exception-log.ts';
import type { HistogramLog } from './histogram-log.ts';
import type { BucketValue, MetricSeries, Window } from './metric-series.ts';
import type { InstanceMetrics, MetricsCollector } from './metrics-collector.ts';
import { ALL_TASKS, percentileOf } from './percentile-answers.ts';

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
  /** For percentiles of components; without it there are none. */
  readonly histograms?: HistogramLog;
  /** Names of the topology's components. */
  readonly components: ReadonlySet<string>;
  /** By the wall clock. */
  readonly nowSeconds: number;
  /** Since when metrics and exceptions have been told. */
  readonly sinceSeconds: number;
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
  const isForAll = query.instanceId.length === 0;
  const asked = isForAll ? [...instances.keys()] : query.instanceId;
  const tasks: { readonly id: string; readonly metrics: InstanceMetrics }[] = [];
  for (const id of asked.filter((each) => each !== ALL_TASKS)) {
    const metrics = instances.get(id);
    if (metrics === undefined) return refuse(undefined);
    tasks.push({ id, metrics });
  }
  const asking = { window, minutely: query.minutely, dialect: facts.dialect };
  const ofTasks = tasks.map(({ id, metrics }) => ({
    instanceId: id,
    metric: query.metric.flatMap((name) => {
      const series = metrics.get(name);
      return series === undefined ? [] : [individual(name, readerOf(series, window), asking)];
    }),
  }));
  const ofAll = percentiles(query, facts, asking);
  const tellsAll = ofAll.length > 0 && (isForAll || asked.includes(ALL_TASKS));
  return QueryMetrics.response.create({
    status: OK,
    metric: [...ofTasks, ...(tellsAll ? [{ instanceId: ALL_TASKS, metric: ofAll }] : [])],
    interval: BigInt(window.endSeconds - window.startSeconds),
  });
}

/** Those of the metrics asked for that are percentiles of the component as a whole. */
function percentiles({ componentName, metric }: MetricQuery, facts: StatsFacts, asking: Asking) {
  const { histograms } = facts;
  if (histograms === undefined) return [];
  return metric.flatMap((name) => {
    const { window } = asking;
    const answer = percentileOf(histograms, { component: componentName, name, window });
    if (answer === undefined) return [];
    return [individual(name, { whole: () => answer.value, minutes: answer.minutes }, asking)];
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

interface Asking {
  readonly window: Window;
  readonly minutely: boolean;
  readonly dialect: StatsDialect;
}

/** What there is to tell of a metric in a window. */
interface WindowReader {
  whole(): number;
  /** Newest first. */
  minutes(): readonly BucketValue[];
}

function readerOf(series: MetricSeries, window: Window): WindowReader {
  return {
    whole: () => (window.startSeconds === 0 ? series.total() : series.over(window)),
    minutes: () => series.bucketsIn(window),
  };
}

function individual(name: string, reader: WindowReader, { minutely, dialect }: Asking) {
  if (!minutely) return { name, value: textOf(reader.whole()) };
  const isCache = dialect === 'metrics-cache';
  const buckets = reader.minutes();
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

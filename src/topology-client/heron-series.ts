import { aggregationOf } from '../metrics/aggregation.ts';
import { StatusCode } from '../wire/messages.ts';
import type {
  KeptException,
  MetricAnswer,
  MetricQuestion,
  MetricsCacheClient,
} from './metrics-cache-client.ts';
import type {
  ComponentErrors,
  SeriesAnswer,
  SeriesPart,
  SeriesQuestion,
  SeriesRow,
  SeriesTable,
} from './series.ts';

/*
  Questions about many series for whoever knows Heron's messages only: one for each part and
  component, a few at a time, with names in full.

  H1. Only metrics of Heron's own list are asked for: its topology master dies of the question for a
      metric that it has no type for (features of Heron 0.20.5).
  H2. Its buckets begin at any second; here each belongs to the minute in which it begins. Its
      metrics cache gives milliseconds, and of a single bucket the value without its time, which is
      then taken for the newest minute.
*/

export interface HeronFacts {
  /** By the asker's wall clock. */
  readonly nowSeconds: number;
  /** For parts that name no component. */
  readonly components: readonly string[];
  /** The names that stand for `beginning/*`. */
  readonly namesBelow: (beginning: string) => readonly string[];
}

const ASKED_AT_ONCE = 4;
const MINUTE_SECONDS = 60;
/** What Heron keeps. */
const MINUTES_MAX = 180;
const EVERYTHING = -1n;
const EVERYTHING_BELOW = '/*';
/** A bucket that begins after this many seconds, in the year 5138, tells milliseconds (H2). */
const SECONDS_MAX = 100_000_000_000;
/** H1 */
const KNOWN = [
  '__emit-count',
  '__execute-count',
  '__fail-count',
  '__ack-count',
  '__complete-latency',
  '__execute-latency',
  '__process-latency',
  '__jvm-uptime-secs',
  '__jvm-process-cpu-load',
  '__jvm-memory-used-mb',
  '__jvm-memory-mb-total',
  '__jvm-gc-collection-time-ms',
  '__server/__time_spent_back_pressure_initiated',
  '__time_spent_back_pressure_by_compid',
];

export async function heronSeries(
  client: MetricsCacheClient,
  question: SeriesQuestion,
  facts: HeronFacts,
): Promise<SeriesAnswer> {
  const frame = frameOf(question, facts);
  const asks = question.parts.flatMap((part, index) => {
    const components = part.components.length > 0 ? part.components : facts.components;
    const metrics = namesIn(part, facts);
    if (metrics.length === 0) return [];
    return components.map((component) => async (): Promise<SeriesTable> => {
      const answer = await client.metrics(messageOf(question, part, component, metrics));
      return tableOf(answer, { part, index, component, frame });
    });
  });
  const tables = await inTurns(asks);
  const most = question.exceptionsMax ?? 0;
  const errors = most === 0 ? [] : await inTurns(facts.components.map(askErrors(client, most)));
  return {
    startSeconds: frame.startSeconds,
    endSeconds: facts.nowSeconds,
    tables: tables.filter(({ rows }) => rows.length > 0),
    errors: errors.filter(({ count }) => count > 0),
  };
}

function askErrors(client: MetricsCacheClient, most: number) {
  return (component: string) => async (): Promise<ComponentErrors> => {
    const found = await client.exceptions({ component, instances: [], isSummary: false });
    const count = found.reduce((sum, error) => sum + error.count, 0);
    return { component, count, newest: found.slice(-most).map(seenError) };
  };
}

function seenError(error: KeptException) {
  return {
    instance: error.instanceId,
    stackTrace: error.stacktrace,
    firstTime: error.firsttime,
    lastTime: error.lasttime,
    count: error.count,
  };
}

/** In the order given, some at a time. */
async function inTurns<Result>(asks: readonly (() => Promise<Result>)[]): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next; at < asks.length; at = next) {
      next += 1;
      const result = await asks[at]?.();
      if (result !== undefined) results[at] = result;
    }
  };
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, work));
  return results;
}

function namesIn({ metrics, weights = [] }: SeriesPart, { namesBelow }: HeronFacts): string[] {
  const names = [...metrics, ...weights].flatMap((name) =>
    name.endsWith(EVERYTHING_BELOW) ? namesBelow(name.slice(0, -1)) : [name],
  );
  const known = names.filter((name) => KNOWN.some((beginning) => name.startsWith(beginning)));
  return [...new Set(known)];
}

function messageOf(
  { span }: SeriesQuestion,
  { shape, instances = [] }: SeriesPart,
  componentName: string,
  metric: readonly string[],
): MetricQuestion {
  const asked = { componentName, instanceId: [...instances], metric: [...metric] };
  const minutely = shape !== 'totals';
  switch (span.kind) {
    case 'interval': {
      const interval = { start: BigInt(span.startSeconds), end: BigInt(span.endSeconds) };
      return { ...asked, minutely, explicitInterval: interval };
    }
    case 'minutes':
      return { ...asked, minutely, interval: BigInt(span.minutes * MINUTE_SECONDS) };
    case 'seconds':
      return { ...asked, minutely, interval: BigInt(span.seconds) };
    case 'everything':
      return { ...asked, minutely, interval: EVERYTHING };
  }
}

/** Where minutes lie. */
interface Frame {
  readonly startSeconds: number;
  readonly firstSeconds: number;
  readonly columns: number;
}

function frameOf({ span }: SeriesQuestion, { nowSeconds }: HeronFacts): Frame {
  const last = span.kind === 'interval' ? Math.min(span.endSeconds, nowSeconds) : nowSeconds;
  const startSeconds = startOf(span, nowSeconds);
  const lastSeconds = minuteOf(last);
  const oldest = lastSeconds - (MINUTES_MAX - 1) * MINUTE_SECONDS;
  const firstSeconds = Math.max(minuteOf(startSeconds), oldest);
  const columns = Math.max(0, (lastSeconds - firstSeconds) / MINUTE_SECONDS + 1);
  return { startSeconds, firstSeconds, columns };
}

function startOf(span: SeriesQuestion['span'], nowSeconds: number): number {
  switch (span.kind) {
    case 'interval':
      return Math.max(0, span.startSeconds);
    case 'minutes':
      return nowSeconds - span.minutes * MINUTE_SECONDS;
    case 'seconds':
      return nowSeconds - span.seconds;
    case 'everything':
      return 0;
  }
}

function minuteOf(seconds: number): number {
  return Math.floor(seconds / MINUTE_SECONDS) * MINUTE_SECONDS;
}

interface Asked {
  readonly part: SeriesPart;
  readonly index: number;
  readonly component: string;
  readonly frame: Frame;
}

function tableOf({ status, metric: tasks }: MetricAnswer, asked: Asked): SeriesTable {
  const { part, index, component, frame } = asked;
  const isTotals = part.shape === 'totals';
  const columns = isTotals ? 1 : frame.columns;
  const rows: SeriesRow[] = [];
  for (const task of status?.status === StatusCode.OK ? tasks : []) {
    for (const { name, value, intervalValues } of task.metric) {
      const points = new Float64Array(columns).fill(Number.NaN);
      // H2: `value` also stands for a single bucket.
      if (value !== '' && columns > 0) points[columns - 1] = Number(value);
      for (const bucket of intervalValues) {
        const place = placeOf(Number(bucket.interval?.start ?? 0n), frame);
        if (place >= 0 && place < columns) points[place] = Number(bucket.value);
      }
      rows.push({ instance: task.instanceId, metric: name, points });
    }
  }
  const firstSeconds = isTotals ? 0 : frame.firstSeconds;
  const isOfAll = part.shape === 'minutes-of-all';
  return {
    part: index,
    component,
    rows: isOfAll ? joined(rows, part, columns) : rows,
    firstSeconds,
    columns,
  };
}

function placeOf(start: number, { firstSeconds }: Frame): number {
  const startSeconds = start > SECONDS_MAX ? start / 1000 : start;
  return (minuteOf(startSeconds) - firstSeconds) / MINUTE_SECONDS;
}

/** One row for each metric: the sums over all instances, or the means by weight. */
function joined(rows: readonly SeriesRow[], part: SeriesPart, columns: number): SeriesRow[] {
  const byInstance = Map.groupBy(rows, ({ instance }) => instance);
  return part.metrics.flatMap((metric, index): SeriesRow[] => {
    const isMean = aggregationOf(metric) === 'average';
    const weight = part.weights?.[index];
    const points = new Float64Array(columns);
    const weights = new Float64Array(columns);
    let isThere = false;
    for (const own of byInstance.values()) {
      const row = own.find((candidate) => candidate.metric === metric);
      if (row === undefined) continue;
      isThere = true;
      const counts = own.find((candidate) => candidate.metric === weight)?.points;
      row.points.forEach((point, at) => {
        if (Number.isNaN(point)) return;
        const by = isMean && weight !== undefined ? (counts?.[at] ?? 0) : 1;
        points[at] = (points[at] ?? 0) + point * by;
        weights[at] = isMean ? (weights[at] ?? 0) + by : 1;
      });
    }
    const means = points.map((point, at) => point / (weights[at] ?? 0));
    return isThere ? [{ instance: '', metric, points: means }] : [];
  });
}

import { assertDefined } from '../base/assert.ts';
import { StatusCode, type ValueOf } from '../wire/messages.ts';
import { bytesOf, QuerySeries, SeriesShape } from '../wire/series-messages.ts';
import { BUCKET_SECONDS, BUCKETS_MAX, type Window } from './metric-series.ts';
import { ALL_TASKS, type PercentileAnswer, percentileOf } from './percentile-answers.ts';
import { SeriesRefusal, SeriesSelection } from './series-selection.ts';
import type { StatsFacts } from './stats-answers.ts';

/*
  Answers to questions about many series at once (series.proto), from which the Tracker makes a
  whole page. Pure but for the collections that they read.

  A1. What one question may cost is bounded: POINTS_MAX numbers in the answer, VISITS_MAX buckets
      looked at, COLUMNS_MAX minutes. Beyond that the answer is a refusal that says so.
*/

type SeriesQuery = ValueOf<typeof QuerySeries.request>;
type SeriesAnswer = ValueOf<typeof QuerySeries.response>;
type Part = SeriesQuery['part'][number];
type Table = Parameters<typeof QuerySeries.response.create>[0]['table'] & {};

/** 32 MB: three metrics of each of 3,000 instances over three hours are 13 MB (A1). */
const POINTS_MAX = 4 * 1024 * 1024;
/** Some 100 ms of work (A1). */
const VISITS_MAX = 20_000_000;
/** A day (A1). */
const COLUMNS_MAX = 1_440;
/** Of a stack trace: whoever wants it whole asks for the exceptions themselves. */
const TRACE_CHARACTERS_MAX = 2_000;

/** What a question covers. */
interface Covered {
  /** For totals; from 0: from the start. */
  readonly window: Window;
  /** The first minute, seconds since the epoch. */
  readonly firstSeconds: number;
  readonly columns: number;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

export function answerSeries(query: SeriesQuery, facts: StatsFacts): SeriesAnswer {
  const covered = coveredBy(query, facts);
  try {
    return QuerySeries.response.create({
      status: { status: StatusCode.OK },
      covered: { start: BigInt(covered.startSeconds), end: BigInt(covered.endSeconds) },
      table: tablesOf(query.part, facts, covered),
      exceptions: exceptionsIn(facts, query.exceptions),
    });
  } catch (error) {
    if (!(error instanceof SeriesRefusal)) throw error;
    const status = { status: StatusCode.NOTOK, message: error.message };
    return QuerySeries.response.create({ status });
  }
}

function windowOf(query: SeriesQuery, { nowSeconds, sinceSeconds }: StatsFacts): Window {
  const { interval, minutes, seconds } = query;
  if (interval !== undefined) {
    const startSeconds = Math.max(0, Number(interval.start));
    return { startSeconds, endSeconds: Math.min(Number(interval.end), nowSeconds) };
  }
  if (minutes > 0) {
    const thisMinute = minuteOf(nowSeconds);
    // In the minute after its first one everybody has told something.
    const hasWhole = minuteOf(sinceSeconds) + BUCKET_SECONDS < thisMinute;
    const startSeconds = Math.max(0, thisMinute - minutes * BUCKET_SECONDS);
    return { startSeconds, endSeconds: hasWhole ? thisMinute - 1 : nowSeconds };
  }
  const startSeconds = seconds === 0 ? 0 : Math.max(0, nowSeconds - seconds);
  return { startSeconds, endSeconds: nowSeconds };
}

function coveredBy(query: SeriesQuery, facts: StatsFacts): Covered {
  const { nowSeconds, sinceSeconds } = facts;
  const thisMinute = minuteOf(nowSeconds);
  const window = windowOf(query, facts);
  const lastSeconds = Math.min(minuteOf(window.endSeconds), thisMinute);
  const columnsMax = window.startSeconds === 0 ? BUCKETS_MAX : COLUMNS_MAX;
  const firstSeconds = Math.max(
    minuteOf(window.startSeconds),
    lastSeconds - (columnsMax - 1) * BUCKET_SECONDS,
  );
  const isWhole = window.endSeconds === thisMinute - 1;
  return {
    window,
    firstSeconds,
    columns: Math.max(0, (lastSeconds - firstSeconds) / BUCKET_SECONDS + 1),
    startSeconds: Math.max(sinceSeconds, minuteOf(window.startSeconds)),
    endSeconds: isWhole ? thisMinute : window.endSeconds,
  };
}

function minuteOf(seconds: number): number {
  return Math.floor(seconds / BUCKET_SECONDS) * BUCKET_SECONDS;
}

/** What one part selects of one component. */
interface Selected {
  readonly part: Part;
  readonly index: number;
  readonly component: string;
  readonly selection: SeriesSelection;
  /** Of all tasks together. */
  readonly percentiles: readonly (readonly [name: string, answer: PercentileAnswer])[];
}

function tablesOf(parts: readonly Part[], facts: StatsFacts, covered: Covered): Table {
  const selected = parts.flatMap((part, index) => {
    const names = part.component.length > 0 ? part.component : [...facts.metrics.components()];
    return names.flatMap((component): Selected[] => {
      const instances = facts.metrics.component(component);
      if (instances === undefined) return [];
      const selection = new SeriesSelection(part, instances);
      const percentiles = percentilesIn(part, component, facts, covered.window);
      if (selection.size === 0 && percentiles.length === 0) return [];
      return [{ part, index, component, selection, percentiles }];
    });
  });
  let [points, visits] = [0, 0];
  for (const { part, selection, percentiles } of selected) {
    const columns = columnsOf(part.shape, covered);
    visits += selection.size * Math.min(columns, BUCKETS_MAX);
    points += (selection.rowCount(part.shape) + percentiles.length) * columns;
  }
  if (points > POINTS_MAX || visits > VISITS_MAX) throw new SeriesRefusal(points, POINTS_MAX);
  return selected.map((each) => tableOf(each, covered));
}

/** Those that the part names, where it asks for all instances, or for all of them as one. */
function percentilesIn(
  { shape, instance, metric }: Part,
  component: string,
  { histograms }: StatsFacts,
  window: Window,
): Selected['percentiles'] {
  const isAsked = instance.length === 0 || instance.includes(ALL_TASKS);
  if (histograms === undefined || !isAsked || shape === SeriesShape.MINUTES_OF_ALL) return [];
  return metric.flatMap((name) => {
    const answer = percentileOf(histograms, { component, name, window });
    return answer === undefined ? [] : [[name, answer] as const];
  });
}

function columnsOf(shape: SeriesShape, { columns }: Covered): number {
  return shape === SeriesShape.TOTALS ? 1 : columns;
}

function tableOf({ part, index, component, selection, percentiles }: Selected, covered: Covered) {
  const { shape } = part;
  const columns = columnsOf(shape, covered);
  const isOfAll = shape === SeriesShape.MINUTES_OF_ALL;
  const count = selection.rowCount(shape) + percentiles.length;
  const points = new Float64Array(count * columns);
  const rows = new Uint32Array(count * (isOfAll ? 1 : 2));
  if (isOfAll) fillSums(selection, covered, points, rows);
  else fillRows(shape, selection, covered, points, rows);
  const metrics = [...selection.metrics];
  percentiles.forEach(([name, answer], at) => {
    const row = selection.rowCount(shape) + at;
    rows[2 * row] = selection.instances.length;
    rows[2 * row + 1] = metrics.push(name) - 1;
    const own = points.subarray(row * columns, (row + 1) * columns);
    if (shape === SeriesShape.TOTALS) own[0] = answer.value;
    else fillPercentiles(answer, covered, own);
  });
  const ofAll = percentiles.length > 0 ? [ALL_TASKS] : [];
  return {
    part: index,
    component,
    instance: isOfAll ? [] : [...selection.instances, ...ofAll],
    metric: metrics,
    rows: bytesOf(rows),
    first: BigInt(shape === SeriesShape.TOTALS ? 0 : covered.firstSeconds),
    columns,
    points: bytesOf(points),
  };
}

function fillPercentiles(
  { minutes }: PercentileAnswer,
  { firstSeconds, columns }: Covered,
  into: Float64Array,
): void {
  for (const { value, startSeconds } of minutes()) {
    const place = (startSeconds - firstSeconds) / BUCKET_SECONDS;
    if (place >= 0 && place < columns) into[place] = value;
  }
}

function fillRows(
  shape: SeriesShape,
  selection: SeriesSelection,
  { window, firstSeconds, columns }: Covered,
  points: Float64Array,
  rows: Uint32Array,
): void {
  points.fill(Number.NaN);
  const isEverything = window.startSeconds === 0;
  selection.forEach(({ series, instance, metric }, row) => {
    rows[2 * row] = instance;
    rows[2 * row + 1] = metric;
    if (shape === SeriesShape.MINUTES) {
      series.copyMinutes(points.subarray(row * columns, (row + 1) * columns), firstSeconds);
    } else points[row] = isEverything ? series.total() : series.over(window);
  });
}

function fillSums(
  selection: SeriesSelection,
  { firstSeconds, columns }: Covered,
  points: Float64Array,
  rows: Uint32Array,
): void {
  const weights = new Float64Array(points.length);
  selection.forEach(({ series, metric, counts }) => {
    const [from, to] = [metric * columns, (metric + 1) * columns];
    series.addMinutes(points.subarray(from, to), weights.subarray(from, to), firstSeconds, counts);
  });
  for (let at = 0; at < points.length; at += 1) {
    points[at] = (points[at] ?? 0) / assertDefined(weights[at], 'each point has its weight');
  }
  rows.forEach((_, metric) => {
    rows[metric] = metric;
  });
}

function exceptionsIn({ exceptions }: StatsFacts, most: number) {
  if (most === 0) return [];
  return exceptions.newest(most).map(({ component, count, records }) => ({
    component,
    count: BigInt(count),
    newest: records.map((record) => ({
      componentName: component,
      hostname: record.hostname,
      instanceId: record.instance,
      stacktrace: record.stackTrace.slice(0, TRACE_CHARACTERS_MAX),
      lasttime: record.lastTime,
      firsttime: record.firstTime,
      count: record.count,
      logging: record.logging.slice(0, TRACE_CHARACTERS_MAX),
    })),
  }));
}

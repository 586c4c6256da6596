import { userError } from '../../base/errors.ts';
import type { SeriesQuestion, SeriesRow } from '../../topology-client/series.ts';
import type { TopologyView } from '../state/topology-view.ts';
import { checkComponent } from './known-component.ts';
import type { FoundSeries, MetricsSource } from './metrics-source.ts';
import {
  evaluateQuery,
  MINUTE_SECONDS,
  minutesBefore,
  minutesBetween,
  minutesIn,
  type MinuteRange,
  type MinuteRow,
  type ReadSeries,
  seriesIn,
} from './query-evaluation.ts';
import { parseQuery, type SeriesName } from './query-syntax.ts';

/** A day; stores remember three hours. */
export const RANGE_MINUTES_MAX = 1_440;
/** 32 MB of what the operands of one query hold together. */
const POINTS_MAX = 4 * 1024 * 1024;

export interface QueryRun {
  readonly query: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

export interface QueryResult {
  readonly rows: readonly MinuteRow[];
  readonly firstSeconds: number;
  readonly columns: number;
}

/**
 * Answers a query with one question to the store.
 *
 * @throws EngineError INVALID_ARGUMENT for a query that cannot be read or is too large; otherwise
 *   as MetricsSource.
 */
export async function runQuery(
  source: MetricsSource,
  view: TopologyView,
  { query, startSeconds, endSeconds }: QueryRun,
): Promise<QueryResult> {
  const node = parseQuery(query);
  const range = minutesBetween(startSeconds, endSeconds);
  if (range === undefined) return { rows: [], firstSeconds: 0, columns: 0 };
  const columns = minutesIn(range);
  checkMinutes(columns);
  const names = seriesIn(node);
  for (const { component } of names) checkComponent(view, component);
  const before = minutesBefore(node) * MINUTE_SECONDS;
  const question: SeriesQuestion = {
    span: {
      kind: 'interval',
      startSeconds: range.firstSeconds - before,
      endSeconds: range.lastSeconds,
    },
    parts: names.map(({ component, instance, metric }) => ({
      shape: 'minutes',
      components: [component],
      instances: instance === undefined ? [] : [instance],
      metrics: [metric],
    })),
  };
  const read = names.length === 0 ? () => [] : readerOf(await source.series(view, question), names);
  const rows = evaluateQuery(node, range, bounded(read));
  return { rows, firstSeconds: range.firstSeconds, columns };
}

/** @throws EngineError INVALID_ARGUMENT */
export function checkMinutes(minutes: number): void {
  if (minutes <= RANGE_MINUTES_MAX) return;
  const text = `from starttime to endtime are ${minutes} minutes; at most ${RANGE_MINUTES_MAX} are`;
  throw userError('INVALID_ARGUMENT', `${text} answered, and stores remember 180`);
}

function bounded(read: ReadSeries): ReadSeries {
  let points = 0;
  return (name, range) => {
    const rows = read(name, range);
    points += rows.length * minutesIn(range);
    if (points <= POINTS_MAX) return rows;
    const text = `the series of the query have more than ${POINTS_MAX} points`;
    throw userError('INVALID_ARGUMENT', `${text}: name fewer instances, or a shorter time`);
  };
}

interface StoredRows {
  readonly rows: readonly SeriesRow[];
  readonly firstSeconds: number;
}

function readerOf({ tables }: FoundSeries, names: readonly SeriesName[]): ReadSeries {
  const stored = new Map<string, StoredRows>();
  for (const { part, rows, firstSeconds } of tables) {
    const name = names[part];
    if (name !== undefined) stored.set(keyOf(name), { rows, firstSeconds });
  }
  return (name, range) => {
    const found = stored.get(keyOf(name));
    return (found?.rows ?? []).map(({ instance, points }) => ({
      instance,
      points: placed(points, found?.firstSeconds ?? 0, range),
    }));
  };
}

function keyOf({ component, instance, metric }: SeriesName): string {
  return JSON.stringify([component, instance ?? null, metric]);
}

/** The points at the minutes of the range. */
function placed(points: Float64Array, firstSeconds: number, range: MinuteRange): Float64Array {
  const into = new Float64Array(minutesIn(range)).fill(Number.NaN);
  const shift = (firstSeconds - range.firstSeconds) / MINUTE_SECONDS;
  const from = Math.max(0, -shift);
  const to = Math.min(points.length, into.length - shift);
  if (from < to) into.set(points.subarray(from, to), from + shift);
  return into;
}

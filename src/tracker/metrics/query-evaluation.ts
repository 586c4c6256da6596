import { assert } from '../../base/assert.ts';
import type { PairNode, QueryNode, SeriesName } from './query-syntax.ts';

/*
  What a query means, over minutes. Pure: the series are read beforehand, all at once.

  A value is a list of rows, one for each instance, or a single one that belongs to no instance. A
  row has a place for each minute of the range, and NaN where there is no point.

  Q1. DEFAULT fills missing points and nothing else. (Heron's replaces zeros as well.)
  Q2. SUM has a point at every minute: what is missing counts as 0. MAX and PERCENTILE have one
      where an operand has; a constant is an operand with the same point at every minute. (Heron's
      PERCENTILE forgets its constants.)
  Q3. Of two operands with instances, those meet that belong to the same instance, and others are
      left out; one that belongs to no instance meets each of the other's. There is a point where
      both have one. Nothing is divided by 0: there the point is missing. (Heron's SUBTRACT fails
      when a component has a single instance.)
  Q4. RATE is the difference to the minute before, and missing when that is missing; the range is
      one minute longer for what it is applied to.
  Q5. What is not a finite number is no point.
*/

export const MINUTE_SECONDS = 60;

/** Whole minutes, in seconds since the epoch; both ends belong to it. */
export interface MinuteRange {
  readonly firstSeconds: number;
  readonly lastSeconds: number;
}

export interface MinuteRow {
  /** Undefined: of no single instance. */
  readonly instance: string | undefined;
  /** One for each minute of the range; NaN: no point. */
  readonly points: Float64Array;
}

/** The rows of a series: the points that it has in that range. */
export type ReadSeries = (name: SeriesName, range: MinuteRange) => readonly MinuteRow[];

/** The whole minutes between two moments; undefined when there is none. */
export function minutesBetween(startSeconds: number, endSeconds: number): MinuteRange | undefined {
  const firstSeconds = Math.ceil(startSeconds / MINUTE_SECONDS) * MINUTE_SECONDS;
  const lastSeconds = Math.floor(endSeconds / MINUTE_SECONDS) * MINUTE_SECONDS;
  return firstSeconds <= lastSeconds ? { firstSeconds, lastSeconds } : undefined;
}

export function minutesIn({ firstSeconds, lastSeconds }: MinuteRange): number {
  return (lastSeconds - firstSeconds) / MINUTE_SECONDS + 1;
}

/** Every series that the query names, once. */
export function seriesIn(node: QueryNode): SeriesName[] {
  const found = new Map<string, SeriesName>();
  visit(node, 0, (series) => {
    const { component, instance, metric } = series;
    found.set(JSON.stringify([component, instance ?? null, metric]), series);
  });
  return [...found.values()];
}

/** How many minutes before the range the query reads (Q4). */
export function minutesBefore(node: QueryNode): number {
  let most = 0;
  visit(node, 0, (_series, rates) => {
    most = Math.max(most, rates);
  });
  return most;
}

function visit(
  node: QueryNode,
  rates: number,
  onSeries: (series: SeriesName, rates: number) => void,
): void {
  switch (node.kind) {
    case 'constant':
      return;
    case 'series':
      onSeries(node, rates);
      return;
    case 'default':
      visit(node.operand, rates, onSeries);
      return;
    case 'rate':
      visit(node.operand, rates + 1, onSeries);
      return;
    case 'sum':
    case 'max':
    case 'percentile':
      for (const operand of node.operands) visit(operand, rates, onSeries);
      return;
    case 'divide':
    case 'multiply':
    case 'subtract':
      visit(node.left, rates, onSeries);
      visit(node.right, rates, onSeries);
  }
}

/** The rows are the caller's own: nothing that `read` gave is written to. */
export function evaluateQuery(
  node: QueryNode,
  range: MinuteRange,
  read: ReadSeries,
): readonly MinuteRow[] {
  switch (node.kind) {
    case 'constant':
      return [constantRow(node.value, range)];
    case 'series':
      return read(node, range);
    case 'default':
      return evaluateQuery(node.operand, range, read).map((row) => filled(row, node.value));
    case 'sum':
      return [summed(rowsOf(node.operands, range, read), range)];
    case 'max':
      return [greatest(rowsOf(node.operands, range, read), range)];
    case 'percentile':
      return [percentiles(rowsOf(node.operands, range, read), range, node.quantile)];
    case 'divide':
    case 'multiply':
    case 'subtract': {
      const left = evaluateQuery(node.left, range, read);
      return paired(left, evaluateQuery(node.right, range, read), OF_PAIR[node.kind]);
    }
    case 'rate': {
      const before = { ...range, firstSeconds: range.firstSeconds - MINUTE_SECONDS };
      return evaluateQuery(node.operand, before, read).map(rateOf);
    }
  }
}

function rowsOf(
  operands: readonly QueryNode[],
  range: MinuteRange,
  read: ReadSeries,
): readonly MinuteRow[] {
  return operands.flatMap((operand) => evaluateQuery(operand, range, read));
}

function constantRow(value: number, range: MinuteRange): MinuteRow {
  return { instance: undefined, points: new Float64Array(minutesIn(range)).fill(value) };
}

/** Q1 */
function filled({ instance, points }: MinuteRow, value: number): MinuteRow {
  return { instance, points: points.map((point) => (Number.isNaN(point) ? value : point)) };
}

/** Q2 */
function summed(rows: readonly MinuteRow[], range: MinuteRange): MinuteRow {
  const sums = new Float64Array(minutesIn(range));
  for (const { points } of rows) {
    for (let at = 0; at < sums.length; at += 1) {
      const point = points[at] ?? Number.NaN;
      if (!Number.isNaN(point)) sums[at] = (sums[at] ?? 0) + point;
    }
  }
  return { instance: undefined, points: onlyFinite(sums) };
}

/** Q2 */
function greatest(rows: readonly MinuteRow[], range: MinuteRange): MinuteRow {
  const most = new Float64Array(minutesIn(range)).fill(Number.NaN);
  for (const { points } of rows) {
    for (let at = 0; at < most.length; at += 1) {
      const point = points[at] ?? Number.NaN;
      const known = most[at] ?? Number.NaN;
      if (Number.isNaN(known) || point > known) most[at] = point;
    }
  }
  return { instance: undefined, points: most };
}

/** Q2. Of n sorted values the one at `quantile % of (n - 1)`, cut to a whole number, as Heron's. */
function percentiles(rows: readonly MinuteRow[], range: MinuteRange, quantile: number): MinuteRow {
  const points = new Float64Array(minutesIn(range)).fill(Number.NaN);
  const values = new Float64Array(rows.length);
  for (let at = 0; at < points.length; at += 1) {
    let count = 0;
    for (const row of rows) {
      const point = row.points[at] ?? Number.NaN;
      if (Number.isNaN(point)) continue;
      values[count] = point;
      count += 1;
    }
    if (count === 0) continue;
    const known = values.subarray(0, count);
    // In place: the buffer is there for that, and a copy for each minute costs as much again.
    // oxlint-disable-next-line unicorn/no-array-sort
    known.sort();
    points[at] = known[Math.floor((quantile * (count - 1)) / 100)] ?? Number.NaN;
  }
  return { instance: undefined, points };
}

const OF_PAIR: Readonly<Record<PairNode['kind'], (left: number, right: number) => number>> = {
  divide: (left, right) => (right === 0 ? Number.NaN : left / right),
  multiply: (left, right) => left * right,
  subtract: (left, right) => left - right,
};

/** Q3 */
function paired(
  left: readonly MinuteRow[],
  right: readonly MinuteRow[],
  combine: (left: number, right: number) => number,
): MinuteRow[] {
  const ofNone = singleRow(left);
  if (ofNone !== undefined) return right.map((row) => combined(row.instance, ofNone, row, combine));
  const other = singleRow(right);
  if (other !== undefined) return left.map((row) => combined(row.instance, row, other, combine));
  const byInstance = new Map(right.map((row) => [row.instance, row]));
  return left.flatMap((row) => {
    const partner = byInstance.get(row.instance);
    return partner === undefined ? [] : [combined(row.instance, row, partner, combine)];
  });
}

function singleRow(rows: readonly MinuteRow[]): MinuteRow | undefined {
  const [first] = rows;
  return rows.length === 1 && first?.instance === undefined ? first : undefined;
}

function combined(
  instance: string | undefined,
  left: MinuteRow,
  right: MinuteRow,
  combine: (left: number, right: number) => number,
): MinuteRow {
  assert(left.points.length === right.points.length, 'rows of one query cover the same minutes');
  const points = new Float64Array(left.points.length);
  for (let at = 0; at < points.length; at += 1) {
    points[at] = combine(left.points[at] ?? Number.NaN, right.points[at] ?? Number.NaN);
  }
  return { instance, points: onlyFinite(points) };
}

/** Q4. The first point of what it is given is that of the minute before. */
function rateOf({ instance, points }: MinuteRow): MinuteRow {
  const differences = new Float64Array(points.length - 1);
  for (let at = 0; at < differences.length; at += 1) {
    differences[at] = (points[at + 1] ?? Number.NaN) - (points[at] ?? Number.NaN);
  }
  return { instance, points: onlyFinite(differences) };
}

/** Q5 */
function onlyFinite(points: Float64Array): Float64Array {
  for (let at = 0; at < points.length; at += 1) {
    if (!Number.isFinite(points[at])) points[at] = Number.NaN;
  }
  return points;
}

import type { Component } from '../../model/logical-topology.ts';
import type { ComponentErrors, SeriesTable } from '../../topology-client/series.ts';
import { type ComponentMetrics, PENDING, PERCENTILES } from './component-metrics.ts';
import { allShown, FigureTables, greatestOf, shown, sumOf } from './figure-tables.ts';
import { ALL_TASKS } from '../../topology-client/series.ts';
import { lastErrorOf } from './last-error.ts';
import type { ComponentFigures, FigureName } from './figures-schema.ts';
import { MINUTE_SECONDS } from './query-evaluation.ts';

/*
  The figures of one component and of its tasks. Pure.

  F1. A component's counts are the sums over all tasks that have told anything in the range, also
      over those that have gone since; its columns are the tasks of the plan in force.
  F2. Means are weighed by the counts of what they are the means of. Capacity of a component is the
      largest of its tasks'. Percentiles are of all its tasks together, and come so from the store,
      since an average of percentiles would mean nothing; of several inputs the largest is shown.
*/

const NS_PER_MS = 1e6;
const NS_PER_SECOND = 1e9;

export interface ComponentFacts {
  readonly component: Component;
  readonly metrics: ComponentMetrics;
  /** Of the plan in force. */
  readonly instances: readonly string[];
  readonly totals: SeriesTable | undefined;
  readonly minutes: SeriesTable | undefined;
  readonly errors: ComponentErrors | undefined;
  /** By instance. */
  readonly backPressureMs: ReadonlyMap<string, number>;
  readonly queueBytes: ReadonlyMap<string, number>;
  /** What totals cover. */
  readonly seconds: number;
  readonly columns: number;
}

/** A column of all tasks, and how a component's own number follows from it. */
interface Column {
  readonly values: Float64Array;
  readonly ofAll: number;
}

export function componentFigures(facts: ComponentFacts): ComponentFigures {
  const { component, instances, totals, errors } = facts;
  const rows = (totals?.rows ?? []).filter(({ instance }) => instance !== ALL_TASKS);
  const everyone = [...new Set([...instances, ...rows.map(({ instance }) => instance)])];
  const tables = FigureTables.ofTasks(everyone, rows);
  const columns = columnsOf(facts, tables, everyone);
  const own = mapColumns(columns, ({ ofAll }) => shown(ofAll));
  const last = errors?.newest.at(-1);
  return {
    ...own,
    kind: component.kind,
    percentiles: percentilesOf(facts),
    errors: {
      count: errors?.count ?? 0,
      last: last === undefined ? null : lastErrorOf(component.name, last),
    },
    sparklines: sparklinesOf(facts),
    instances: [...instances],
    tasks: mapColumns(columns, ({ values }) => allShown(values.subarray(0, instances.length))),
  };
}

function columnsOf(
  { metrics, seconds, backPressureMs, queueBytes }: ComponentFacts,
  tables: FigureTables,
  instances: readonly string[],
): Record<FigureName, Column> {
  const counts = (names: readonly string[]): Column => summed(tables.sum(names));
  const rate = ({ values }: Column): Column => summed(values.map((value) => value / seconds));
  const meanMs = (names: ComponentMetrics['executeLatencies']): Column => {
    const values = tables.mean(names).map((value) => value / NS_PER_MS);
    const times = sumOf(tables.products(names));
    const count = sumOf(tables.sum(names.map((name) => name.count)));
    return { values, ofAll: times / count / NS_PER_MS };
  };
  const emitted = counts(metrics.emitCounts);
  const executed = counts(metrics.executeCounts);
  const acked = counts(metrics.ackCounts);
  const failed = counts(metrics.failCounts);
  const busyNs = tables.products(metrics.executeLatencies);
  const byInstance = (known: ReadonlyMap<string, number>): Float64Array =>
    Float64Array.from(instances, (instance) => known.get(instance) ?? Number.NaN);
  return {
    emitCount: emitted,
    emitRate: rate(emitted),
    executeCount: executed,
    executeRate: rate(executed),
    ackCount: acked,
    ackRate: rate(acked),
    failCount: failed,
    failRate: rate(failed),
    executeLatencyMs: meanMs(metrics.executeLatencies),
    processLatencyMs: meanMs(metrics.processLatencies),
    completeLatencyMs: meanMs(metrics.completeLatencies),
    capacity: greatest(busyNs.map((time) => time / (seconds * NS_PER_SECOND))),
    backPressureMs: greatest(byInstance(backPressureMs)),
    queueBytes: summed(byInstance(queueBytes)),
    pending: counts([PENDING]),
  };
}

function summed(values: Float64Array): Column {
  return { values, ofAll: sumOf(values) };
}

function greatest(values: Float64Array): Column {
  return { values, ofAll: greatestOf(values) };
}

function mapColumns<Result>(
  columns: Record<FigureName, Column>,
  map: (column: Column) => Result,
): Record<FigureName, Result> {
  const entries = Object.entries(columns).map(([name, column]) => [name, map(column)]);
  return Object.fromEntries(entries) as Record<FigureName, Result>;
}

/** F2 */
function percentilesOf({ metrics, totals }: ComponentFacts) {
  const known = new Map<string, number>();
  for (const { instance, metric, points } of totals?.rows ?? []) {
    if (instance === ALL_TASKS) known.set(metric, points[0] ?? Number.NaN);
  }
  const ofMetrics = (names: readonly string[]) => {
    const values = PERCENTILES.map((key) => {
      const all = names.map((name) => known.get(`${name}/${key}`) ?? Number.NaN);
      return [key, shown(greatestOf(Float64Array.from(all)) / NS_PER_MS)] as const;
    });
    return values.every(([, value]) => value === null)
      ? null
      : (Object.fromEntries(values) as Record<(typeof PERCENTILES)[number], number | null>);
  };
  return {
    execute: ofMetrics(metrics.executeLatencies.map(({ mean }) => mean)),
    process: ofMetrics(metrics.processLatencies.map(({ mean }) => mean)),
    complete: ofMetrics(metrics.completeLatencies.map(({ mean }) => mean)),
    queue: ofMetrics(metrics.queueLatencies),
  };
}

function sparklinesOf({ metrics, minutes, columns }: ComponentFacts) {
  const tables = FigureTables.ofMinutes(columns, minutes?.rows ?? []);
  const rates = (names: readonly string[]) => allShown(tables.sum(names), 1 / MINUTE_SECONDS);
  const meansMs = (names: ComponentMetrics['executeLatencies']) =>
    allShown(tables.mean(names), 1 / NS_PER_MS);
  return {
    emitRate: rates(metrics.emitCounts),
    executeRate: rates(metrics.executeCounts),
    ackRate: rates(metrics.ackCounts),
    failRate: rates(metrics.failCounts),
    executeLatencyMs: meansMs(metrics.executeLatencies),
    processLatencyMs: meansMs(metrics.processLatencies),
    completeLatencyMs: meansMs(metrics.completeLatencies),
  };
}

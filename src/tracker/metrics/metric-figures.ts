import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Component } from '../../model/logical-topology.ts';
import type { SeriesPart, SeriesQuestion, SeriesSpan } from '../../topology-client/series.ts';
import type { PageFigures, SummaryFigures } from '../pages/page-figures.ts';
import type { TopologyView } from '../state/topology-view.ts';
import { type ComponentFacts, componentFigures } from './component-figures.ts';
import {
  type ComponentMetrics,
  countsIn,
  metricsOf,
  PENDING,
  PERCENTILES,
  weighedIn,
} from './component-metrics.ts';
import { shown } from './figure-tables.ts';
import type { PageRange, TopologyFigures } from './figures-schema.ts';
import { lastErrorOf, newestFirst } from './last-error.ts';
import type { FoundSeries, MetricsSource } from './metrics-source.ts';
import { within } from './time-limit.ts';
import { TopologySummaries } from './topology-summaries.ts';

/*
  The pages' part that comes from metrics: one question to a topology's store for each page.

  G1. A page waits WAIT_MS for a store, at most, and then says that it does; the answer is there for
      the next one. A page that lists all topologies waits only for those it knows nothing of yet.
*/

const WAIT_MS = 1_500;
const ERRORS_OF_COMPONENT = 5;
const ERRORS_SHOWN_MAX = 20;
const STREAM_MANAGER = '__stmgr__';
const BACK_PRESSURE = '__time_spent_back_pressure_by_compid/';
const BUFFERED = '__connection_buffer_by_instanceid/';
const BUFFERED_BYTES = '/bytes';

const SPANS: Readonly<Record<PageRange, SeriesSpan>> = {
  '3m': { kind: 'minutes', minutes: 3 },
  '10m': { kind: 'minutes', minutes: 10 },
  '1h': { kind: 'minutes', minutes: 60 },
  '3h': { kind: 'minutes', minutes: 180 },
  all: { kind: 'everything' },
};

export class MetricFigures implements PageFigures {
  readonly #source: MetricsSource;
  readonly #clock: Clock;
  readonly #summaries: TopologySummaries;

  constructor(source: MetricsSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
    this.#summaries = new TopologySummaries(source, clock);
  }

  summaries(views: readonly TopologyView[]): Promise<ReadonlyMap<string, SummaryFigures>> {
    return this.#summaries.of(views, WAIT_MS);
  }

  async topology(view: TopologyView, range: PageRange): Promise<TopologyFigures> {
    const components = view.topology?.components ?? [];
    const described = components.map((component) => ({ component, metrics: metricsOf(component) }));
    try {
      const asked = this.#source.series(view, questionOf(described, range));
      const found = await within(this.#clock, WAIT_MS, asked);
      if (found !== undefined) return figuresOf(view, described, range, found);
      return figuresOf(view, described, range, `no answer within ${WAIT_MS} ms; it is waited for`);
    } catch (error) {
      return figuresOf(view, described, range, messageOf(error));
    }
  }
}

interface Described {
  readonly component: Component;
  readonly metrics: ComponentMetrics;
}

/** Two parts for each component, totals and minutes, and one for what stream managers say. */
function questionOf(described: readonly Described[], range: PageRange): SeriesQuestion {
  const parts = described.flatMap(({ component, metrics }): SeriesPart[] => {
    const components = [component.name];
    const means = weighedIn(metrics);
    const counts = countsIn(metrics);
    const measured = [...means.map(({ mean }) => mean), ...metrics.queueLatencies];
    const percentiles = measured.flatMap((name) => PERCENTILES.map((key) => `${name}/${key}`));
    const totals = [...counts, ...means.map(({ mean }) => mean), ...percentiles, PENDING];
    const minutes = [...counts, ...means.map(({ mean }) => mean)];
    const weights = [...counts.map(() => ''), ...means.map(({ count }) => count)];
    return [
      { shape: 'totals', components, metrics: totals },
      { shape: 'minutes-of-all', components, metrics: minutes, weights },
    ];
  });
  const ofInstances = {
    shape: 'totals' as const,
    components: [STREAM_MANAGER],
    metrics: [`${BACK_PRESSURE}*`, `${BUFFERED}*`],
  };
  return {
    span: SPANS[range],
    parts: [...parts, ofInstances],
    exceptionsMax: ERRORS_OF_COMPONENT,
  };
}

/** With a text in place of the numbers: why there are none. */
function figuresOf(
  view: TopologyView,
  described: readonly Described[],
  range: PageRange,
  found: FoundSeries | string,
): TopologyFigures {
  const known = typeof found === 'string' ? undefined : found;
  const { tables = [], errors = [], startSeconds = 0, endSeconds = 0 } = known ?? {};
  const instancesOf = Map.groupBy(
    view.physicalPlan?.instances ?? [],
    ({ component }): string => component,
  );
  const minutes = tables.find(({ part }) => part % 2 === 1 && part < 2 * described.length);
  const byPart = new Map(tables.map((table) => [table.part, table]));
  const ofTasks = byPart.get(2 * described.length)?.rows ?? [];
  const seconds = Math.max(1, endSeconds - startSeconds);
  const shared = {
    backPressureMs: greatestBelow(ofTasks, BACK_PRESSURE, ''),
    queueBytes: greatestBelow(ofTasks, BUFFERED, BUFFERED_BYTES),
    seconds,
    columns: minutes?.columns ?? 0,
  };
  const components = described.map(({ component, metrics }, index) => {
    const facts: ComponentFacts = {
      ...shared,
      component,
      metrics,
      instances: (instancesOf.get(component.name) ?? []).map(({ id }) => id),
      totals: byPart.get(2 * index),
      minutes: byPart.get(2 * index + 1),
      errors: errors.find((one) => one.component === component.name),
    };
    return [component.name, componentFigures(facts)] as const;
  });
  const newest = errors.flatMap((one) =>
    one.newest.map((error) => lastErrorOf(one.component, error)),
  );
  return {
    reason: typeof found === 'string' ? found : null,
    range,
    origin: known?.origin ?? null,
    startSeconds: known === undefined ? null : startSeconds,
    endSeconds: known === undefined ? null : endSeconds,
    firstMinuteSeconds: minutes?.firstSeconds ?? null,
    minutes: shared.columns,
    components: Object.fromEntries(components),
    edges: described.flatMap((one, index) =>
      edgesOf(one, byPart.get(2 * index)?.rows ?? [], seconds),
    ),
    errors: newestFirst(newest).slice(0, ERRORS_SHOWN_MAX),
  };
}

type Rows = FoundSeries['tables'][number]['rows'];

/** By what stands in the name between beginning and end; the greatest of all stream managers'. */
function greatestBelow(rows: Rows, beginning: string, end: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const { metric, points } of rows) {
    if (!metric.startsWith(beginning) || !metric.endsWith(end)) continue;
    const key = metric.slice(beginning.length, metric.length - end.length);
    values.set(key, Math.max(values.get(key) ?? 0, points[0] ?? 0));
  }
  return values;
}

function edgesOf({ component, metrics }: Described, rows: Rows, seconds: number) {
  const counts = new Map<string, number>();
  const asked = new Set(metrics.executeCounts);
  for (const { metric, points } of rows) {
    if (asked.has(metric)) counts.set(metric, (counts.get(metric) ?? 0) + (points[0] ?? 0));
  }
  return metrics.inputs.map(({ from, stream, executeCount }) => {
    const count = counts.get(executeCount) ?? Number.NaN;
    return { from, stream, to: component.name, count: shown(count), rate: shown(count / seconds) };
  });
}

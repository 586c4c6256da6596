import { z } from '@hono/zod-openapi';
import { userError } from '../../base/errors.ts';
import type { SeriesQuestion, SeriesRow, SeriesSpan } from '../../topology-client/series.ts';
import { findView, oneTopology } from '../find-view.ts';
import { checkComponent } from '../metrics/known-component.ts';
import type { FoundSeries } from '../metrics/metrics-source.ts';
import { minutesBetween, minutesIn } from '../metrics/query-evaluation.ts';
import { checkMinutes, runQuery } from '../metrics/run-query.ts';
import {
  heronText,
  type PointForm,
  PointsWriter,
  resultText,
  timelineText,
} from '../metrics/timeline-json.ts';
import type { TopologyView } from '../state/topology-view.ts';
import { JsonText, type TrackerApp } from '../tracker-app.ts';
import type { TrackerParts } from '../tracker-parts.ts';

/* Heron's paths for metrics. What differs from Heron's answers is in docs/tracker.md. */

const TAG = 'metrics';
/** Beyond what a `Date` can hold there is no minute to ask for. */
const SECONDS_MAX = 8_640_000_000_000;

const ofComponent = oneTopology.extend({
  component: z.string().openapi({ description: "a component's name, or `__stmgr__` and the like" }),
  metricname: z.array(z.string()).default([]).openapi({ description: 'none: all metrics' }),
  instance: z.array(z.string()).default([]).openapi({ description: 'none: all instances' }),
});

const seconds = z.coerce.number().int().min(-SECONDS_MAX).max(SECONDS_MAX);
const span = {
  starttime: seconds.openapi({ description: 'seconds since the epoch' }),
  endtime: seconds.openapi({ description: 'seconds since the epoch' }),
};

const interval = seconds.default(-1).openapi({
  description: 'the last so many seconds; 0 or less: everything since the start',
});

const totals = z.object({
  interval: z.number(),
  component: z.string(),
  metrics: z.record(z.string(), z.record(z.string(), z.string())),
});

const timelineOf = <Point extends z.ZodType>(point: Point) =>
  z.object({
    component: z.string(),
    starttime: z.number(),
    endtime: z.number(),
    timeline: z.record(z.string(), z.record(z.string(), z.record(z.string(), point))),
  });

const queried = z.object({
  starttime: z.number(),
  endtime: z.number(),
  timeline: z.array(
    z.object({ instance: z.string().nullable(), data: z.record(z.string(), z.number()) }),
  ),
});

type ComponentQuery = z.output<typeof ofComponent>;

export function registerMetrics(app: TrackerApp, parts: TrackerParts): void {
  app.get({
    path: '/topologies/metrics',
    summary: 'One number for each metric of each instance',
    tag: TAG,
    query: ofComponent.extend({ interval }),
    answer: totals,
    respond: async (query) => {
      const wanted: SeriesSpan =
        query.interval > 0
          ? { kind: 'seconds', seconds: Math.min(query.interval, 0xffff_ffff) }
          : { kind: 'everything' };
      const found = await ask(parts, query, { shape: 'totals', span: wanted });
      return {
        interval: query.interval > 0 ? query.interval : found.endSeconds,
        component: query.component,
        metrics: totalsOf(rowsOf(found)),
      };
    },
  });
  registerTimeline(app, parts, '/topologies/metrics/timeline', 'number');
  registerTimeline(app, parts, '/topologies/metricstimeline', 'text');
  registerQuery(app, parts);
}

function registerTimeline(
  app: TrackerApp,
  parts: TrackerParts,
  path: string,
  form: PointForm,
): void {
  app.get({
    path,
    summary: `A point a minute of each metric and instance${form === 'text' ? ', as text' : ''}`,
    tag: TAG,
    query: ofComponent.extend(span),
    answer: timelineOf(form === 'text' ? z.string() : z.number()),
    respond: async (query) => {
      const { component, starttime, endtime } = query;
      checkSpan(query);
      const wanted: SeriesSpan = {
        kind: 'interval',
        startSeconds: Math.max(0, starttime),
        endSeconds: Math.max(0, endtime),
      };
      const found = await ask(parts, query, { shape: 'minutes', span: wanted });
      const [table] = found.tables;
      const writer = new PointsWriter(table?.firstSeconds ?? 0, table?.columns ?? 0, form);
      const about = JSON.stringify({ component, starttime, endtime });
      const timeline = timelineText(rowsOf(found), writer);
      return new JsonText(`${about.slice(0, -1)},"timeline":${timeline}}`);
    },
  });
}

function registerQuery(app: TrackerApp, { snapshots, metrics }: TrackerParts): void {
  app.get({
    path: '/topologies/metrics/query',
    summary: 'Points a minute, by an expression over series',
    tag: TAG,
    query: oneTopology.extend({
      query: z.string().openapi({ example: 'SUM(TS(count, *, __execute-count/split/default))' }),
      ...span,
    }),
    answer: queried,
    respond: async (asked) => {
      const { query, starttime, endtime } = asked;
      checkSpan(asked);
      const view = findView(snapshots.now(), asked);
      const { rows, firstSeconds, columns } = await runQuery(metrics, view, {
        query,
        startSeconds: starttime,
        endSeconds: endtime,
      });
      const writer = new PointsWriter(firstSeconds, columns, 'number');
      const timeline = resultText(rows, writer);
      return new JsonText(`{"starttime":${starttime},"endtime":${endtime},"timeline":${timeline}}`);
    },
  });
}

function checkSpan({ starttime, endtime }: { starttime: number; endtime: number }): void {
  if (starttime > endtime) {
    throw userError('INVALID_ARGUMENT', `starttime ${starttime} is after endtime ${endtime}`);
  }
  const range = minutesBetween(starttime, endtime);
  if (range !== undefined) checkMinutes(minutesIn(range));
}

async function ask(
  { snapshots, metrics }: TrackerParts,
  query: ComponentQuery,
  { shape, span: wanted }: { shape: 'totals' | 'minutes'; span: SeriesSpan },
): Promise<FoundSeries> {
  const view = findView(snapshots.now(), query);
  checkComponent(view, query.component);
  const found = await metrics.series(view, questionOf(query, shape, wanted));
  checkNames(found, query, view);
  return found;
}

function questionOf(
  { component, metricname, instance }: ComponentQuery,
  shape: 'totals' | 'minutes',
  wanted: SeriesSpan,
): SeriesQuestion {
  const part = { shape, components: [component], instances: instance, metrics: metricname };
  return { span: wanted, parts: [part] };
}

/** Heron's processes tell of what they are asked for by name only. */
function checkNames({ isHerons }: FoundSeries, query: ComponentQuery, { name }: TopologyView) {
  if (!isHerons || query.metricname.length > 0) return;
  const text = `the metrics of '${name}' are kept by a process of Heron's, which lists none`;
  throw userError('INVALID_ARGUMENT', `${text}: name each with metricname=…`);
}

function rowsOf({ tables }: FoundSeries): readonly SeriesRow[] {
  return tables.flatMap(({ rows }) => rows);
}

function totalsOf(rows: readonly SeriesRow[]): Record<string, Record<string, string>> {
  // Without a prototype: instances and metrics of users may be called anything.
  const metrics: Record<string, Record<string, string>> = Object.create(null);
  for (const { metric, instance, points } of rows) {
    const own: Record<string, string> = (metrics[metric] ??= Object.create(null));
    own[instance] = heronText(points[0] ?? Number.NaN);
  }
  return metrics;
}

import { z } from '@hono/zod-openapi';

/*
  What the page of one topology shows of metrics. Numbers of tasks are columns, one entry for each
  task: with thousands of tasks that is a third of the bytes, and what a table wants.
*/

export const PAGE_RANGES = ['3m', '10m', '1h', '3h', 'all'] as const;
export type PageRange = (typeof PAGE_RANGES)[number];

const number = z.number().nullable().openapi({ description: 'null: not known' });
const column = z.array(number);

export const lastError = z.object({
  component: z.string(),
  instance: z.string(),
  /** Of the newest one. */
  at: z.string(),
  text: z.string(),
  count: z.number(),
});

/** Milliseconds; null where nobody measures them. */
const percentiles = z.object({
  p50: number,
  p90: number,
  p99: number,
  p999: number,
  max: number,
});

/** Names of the numbers that both components and tasks have. */
const FIGURES = {
  emitCount: number,
  emitRate: number,
  executeCount: number,
  executeRate: number,
  ackCount: number,
  ackRate: number,
  failCount: number,
  failRate: number,
  /** Means, in milliseconds. */
  executeLatencyMs: number,
  processLatencyMs: number,
  completeLatencyMs: number,
  /** The share of the time in which the task was executing: Storm's. Of a component the largest. */
  capacity: number,
  /** How long spouts were asked to wait for the task. Of a component the largest. */
  backPressureMs: number,
  /** Bytes that wait for the task or are under way to it. */
  queueBytes: number,
  /** Messages of a spout that are under way. */
  pending: number,
};

export type FigureName = keyof typeof FIGURES;
export const FIGURE_NAMES = Object.keys(FIGURES) as readonly FigureName[];

const taskColumns = z.object(
  Object.fromEntries(FIGURE_NAMES.map((name) => [name, column])) as Record<
    FigureName,
    typeof column
  >,
);

/** One point a minute; the minutes are those of `sparklines`. */
const sparklines = z.object({
  emitRate: column,
  executeRate: column,
  ackRate: column,
  failRate: column,
  executeLatencyMs: column,
  processLatencyMs: column,
  completeLatencyMs: column,
});

const componentFigures = z.object({
  ...FIGURES,
  kind: z.enum(['spout', 'bolt']),
  percentiles: z.object({
    execute: percentiles.nullable(),
    process: percentiles.nullable(),
    complete: percentiles.nullable(),
    queue: percentiles.nullable(),
  }),
  errors: z.object({ count: z.number(), last: lastError.nullable() }),
  sparklines,
  /** Ids of instances; the columns have their figures in this order. */
  instances: z.array(z.string()),
  tasks: taskColumns,
});

export type ComponentFigures = z.output<typeof componentFigures>;

/** Of one topology on its own page. */
export const topologyFigures = z.object({
  /** Why there are none. */
  reason: z.string().nullable(),
  range: z.enum(PAGE_RANGES),
  origin: z.enum(['metrics-cache', 'topology-master']).nullable(),
  /** What counts cover, seconds since the epoch. */
  startSeconds: number,
  endSeconds: number,
  /** The first minute of all sparklines, and how many there are. */
  firstMinuteSeconds: number,
  minutes: z.number(),
  components: z.record(z.string(), componentFigures),
  /** Who read from whom. */
  edges: z.array(
    z.object({
      from: z.string(),
      stream: z.string(),
      to: z.string(),
      count: number,
      rate: number,
    }),
  ),
  /** The newest, of all components. */
  errors: z.array(lastError),
});

export type TopologyFigures = z.output<typeof topologyFigures>;

import { userError } from '../base/errors.ts';
import { malformed } from '../wire/malformed.ts';
import { StatusCode, type ValueOf } from '../wire/messages.ts';
import { numbersIn, QuerySeries, SeriesShape } from '../wire/series-messages.ts';

/*
  Questions about many series at once and what comes back, as whoever asks sees them. The messages
  are in series.proto.
*/

/** Which minutes an answer covers; seconds are since the epoch. */
export type SeriesSpan =
  | { readonly kind: 'interval'; readonly startSeconds: number; readonly endSeconds: number }
  /** The last whole ones, by the answerer's clock. */
  | { readonly kind: 'minutes'; readonly minutes: number }
  /** Those that overlap the last so many seconds, by the answerer's clock. */
  | { readonly kind: 'seconds'; readonly seconds: number }
  /** Totals since the answerer's start, minutes as far back as it remembers. */
  | { readonly kind: 'everything' };

/** In the place of an instance: percentiles of all tasks of a component together. */
export const ALL_TASKS = '*';

export interface SeriesPart {
  readonly shape: 'totals' | 'minutes' | 'minutes-of-all';
  /** None: all. */
  readonly components: readonly string[];
  /** None: all. */
  readonly instances?: readonly string[];
  /** None: all. `name/*` is everything below that name. */
  readonly metrics: readonly string[];
  /** For `minutes-of-all` of means: the count that weighs each metric, in the same order. */
  readonly weights?: readonly string[];
}

export interface SeriesQuestion {
  readonly span: SeriesSpan;
  readonly parts: readonly SeriesPart[];
  /** How many of the newest exceptions of each component; none unless set. */
  readonly exceptionsMax?: number;
}

/** What one part has found of one component. */
export interface SeriesTable {
  /** The part's index in the question. */
  readonly part: number;
  readonly component: string;
  readonly rows: readonly SeriesRow[];
  /** Seconds since the epoch; 0 for totals. */
  readonly firstSeconds: number;
  /** Points of each row, one a minute; 1 for totals. */
  readonly columns: number;
}

export interface SeriesRow {
  /** Empty in `minutes-of-all`. */
  readonly instance: string;
  readonly metric: string;
  /** NaN: there is none. */
  readonly points: Float64Array;
}

export interface ComponentErrors {
  readonly component: string;
  readonly count: number;
  /** Oldest first. */
  readonly newest: readonly SeenError[];
}

export interface SeenError {
  readonly instance: string;
  readonly stackTrace: string;
  readonly firstTime: string;
  readonly lastTime: string;
  readonly count: number;
}

export interface SeriesAnswer {
  /** What totals cover, seconds since the epoch by the answerer's clock. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly tables: readonly SeriesTable[];
  readonly errors: readonly ComponentErrors[];
}

const SHAPES = {
  totals: SeriesShape.TOTALS,
  minutes: SeriesShape.MINUTES,
  'minutes-of-all': SeriesShape.MINUTES_OF_ALL,
} as const;

export function seriesQueryOf({ span, parts, exceptionsMax = 0 }: SeriesQuestion) {
  return QuerySeries.request.create({
    part: parts.map(({ shape, components, instances = [], metrics, weights = [] }) => ({
      shape: SHAPES[shape],
      component: [...components],
      instance: [...instances],
      metric: [...metrics],
      weight: [...weights],
    })),
    ...spanFieldsOf(span),
    exceptions: exceptionsMax,
  });
}

function spanFieldsOf(span: SeriesSpan) {
  switch (span.kind) {
    case 'interval': {
      const { startSeconds, endSeconds } = span;
      return { interval: { start: BigInt(startSeconds), end: BigInt(endSeconds) } };
    }
    case 'minutes':
      return { minutes: span.minutes };
    case 'seconds':
      return { seconds: span.seconds };
    case 'everything':
      return {};
  }
}

/** @throws EngineError INVALID_ARGUMENT for a refusal, PACKET_MALFORMED for what does not fit. */
export function seriesAnswerOf(answer: ValueOf<typeof QuerySeries.response>): SeriesAnswer {
  const { status, covered, table, exceptions } = answer;
  if (status?.status !== StatusCode.OK) throw userError('INVALID_ARGUMENT', status?.message ?? '');
  return {
    startSeconds: Number(covered?.start ?? 0n),
    endSeconds: Number(covered?.end ?? 0n),
    tables: table.map(tableOf),
    errors: exceptions.map(({ component, count, newest }) => ({
      component,
      count: Number(count),
      newest: newest.map((error) => ({
        instance: error.instanceId,
        stackTrace: error.stacktrace,
        firstTime: error.firsttime,
        lastTime: error.lasttime,
        count: error.count,
      })),
    })),
  };
}

type TableMessage = ValueOf<typeof QuerySeries.response>['table'][number];

function tableOf(message: TableMessage): SeriesTable {
  const { part, component, instance, metric, first, columns } = message;
  const points = numbersIn(message.points, Float64Array);
  const names = numbersIn(message.rows, Uint32Array);
  const isOfAll = instance.length === 0;
  const count = isOfAll ? names.length : names.length / 2;
  if (points.length !== count * columns) {
    throw malformed(`a table of ${count} rows and ${columns} columns has ${points.length} points`);
  }
  const rows: SeriesRow[] = [];
  for (let row = 0; row < count; row += 1) {
    const name = metric[names[isOfAll ? row : 2 * row + 1] ?? -1];
    const whose = isOfAll ? '' : instance[names[2 * row] ?? -1];
    if (name === undefined || whose === undefined) throw malformed('a row has no name');
    const own = points.subarray(row * columns, (row + 1) * columns);
    rows.push({ instance: whose, metric: name, points: own });
  }
  return { part, component, rows, firstSeconds: Number(first), columns };
}

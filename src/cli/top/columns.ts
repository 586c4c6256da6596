import { isoTime } from '../../base/iso-time.ts';
import type { ComponentRow, Flow, TaskRow, TopologyRow } from './top-model.ts';

/* The columns of the tables of `heron top`: what stands in them, and how they are sorted. Pure. */

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'dim';

export interface Cell {
  readonly text: string;
  readonly tone: Tone;
}

export interface Column<Row> {
  readonly title: string;
  readonly isNumber: boolean;
  /** What it is sorted by; null is not known, and comes last whichever way. */
  readonly key: (row: Row) => number | string | null;
  readonly cell: (row: Row, nowMs: number) => Cell;
}

const UNKNOWN: Cell = { text: '-', tone: 'dim' };
/** Above it a task has next to no time left, and a held spout is no accident. */
const MUCH = 0.8;
const SOME_OF_CAPACITY = 0.5;
const SOME_HELD = 0.05;

const TONES: Readonly<Record<string, Tone>> = {
  RUNNING: 'good',
  COMPLETED: 'good',
  running: 'good',
  STARTING: 'warn',
  PAUSED: 'warn',
  DRAINING: 'warn',
  restarting: 'warn',
};

const FLOW_COLUMNS: readonly Column<Flow>[] = [
  rate('EMIT/S', 'emitted'),
  rate('EXEC/S', 'executed'),
  rate('ACK/S', 'acked'),
  { ...rate('FAIL/S', 'failed'), cell: ({ failed }) => badIfAny(failed) },
  time('COMPLETE', 'completeMs'),
  time('EXECUTE', 'executeMs'),
  time('PROCESS', 'processMs'),
  share('CAPACITY', 'capacity', SOME_OF_CAPACITY),
  share('HELD', 'backPressure', SOME_HELD),
];

export const TOPOLOGY_COLUMNS: readonly Column<TopologyRow>[] = [
  text('TOPOLOGY', ({ name }) => name),
  stateColumn(({ state }) => state),
  {
    title: 'AGE',
    isNumber: true,
    key: ({ sinceMs }) => (sinceMs === undefined ? null : -sinceMs),
    cell: ({ sinceMs }, nowMs) =>
      sinceMs === undefined ? UNKNOWN : plain(durationText(nowMs - sinceMs)),
  },
  upColumn('CONTAINERS', (row) => [row.containersUp, row.containersWanted]),
  restartsColumn(),
  ...FLOW_COLUMNS,
];

export const COMPONENT_COLUMNS: readonly Column<ComponentRow>[] = [
  text('COMPONENT', ({ component }) => component),
  text('TYPE', ({ type }) => type),
  upColumn('TASKS', (row) => [row.tasksUp, row.tasks]),
  ...FLOW_COLUMNS,
];

export const TASK_COLUMNS: readonly Column<TaskRow>[] = [
  text('TASK', ({ instance }) => instance),
  stateColumn(({ state }) => state),
  {
    ...text('CONTAINER', (row) => `${row.container}`),
    isNumber: true,
    key: (row) => row.container,
  },
  { ...text('HOST', ({ host }) => host ?? '-'), key: ({ host }) => host ?? null },
  restartsColumn(),
  ...FLOW_COLUMNS,
];

/** Descending: the largest number first, and words from the end. */
export function sortedBy<Row>(
  rows: readonly Row[],
  { key }: Column<Row>,
  isDescending: boolean,
): readonly Row[] {
  const sign = isDescending ? -1 : 1;
  return rows.toSorted((left, right) => {
    const [a, b] = [key(left), key(right)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
    return sign * (`${a}` < `${b}` ? -1 : `${a}` > `${b}` ? 1 : 0);
  });
}

export function timeText(wallMs: number): string {
  return isoTime(wallMs).slice('2026-01-01T'.length, '2026-01-01T00:00:00'.length);
}

/** The two largest units. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [minutes, hours, days] = [60, 3_600, 86_400].map((unit) => Math.floor(seconds / unit));
  if (days !== undefined && days > 0) return `${days}d${(hours ?? 0) % 24}h`;
  if (hours !== undefined && hours > 0) return `${hours}h${(minutes ?? 0) % 60}m`;
  return minutes !== undefined && minutes > 0 ? `${minutes}m${seconds % 60}s` : `${seconds}s`;
}

/** Short enough for a column: 12, 1234, 56.7k, 8.90M. */
export function rateText(perSecond: number): string {
  if (perSecond >= 1e6) return `${(perSecond / 1e6).toFixed(2)}M`;
  if (perSecond >= 1e4) return `${(perSecond / 1e3).toFixed(1)}k`;
  return perSecond === 0 || perSecond >= 100 ? perSecond.toFixed(0) : perSecond.toFixed(1);
}

export function millisecondsText(ms: number): string {
  if (ms >= 10_000) return `${(ms / 1_000).toFixed(1)}s`;
  return `${ms.toFixed(ms >= 100 ? 0 : ms >= 1 ? 1 : 3)}ms`;
}

function plain(value: string): Cell {
  return { text: value, tone: 'plain' };
}

function text<Row>(title: string, value: (row: Row) => string): Column<Row> {
  return { title, isNumber: false, key: value, cell: (row) => plain(value(row)) };
}

function rate(title: string, key: keyof Flow): Column<Flow> {
  return {
    title,
    isNumber: true,
    key: (flow) => flow[key],
    cell: (flow) => (flow[key] === null ? UNKNOWN : plain(rateText(flow[key]))),
  };
}

function badIfAny(perSecond: number | null): Cell {
  if (perSecond === null) return UNKNOWN;
  return { text: rateText(perSecond), tone: perSecond > 0 ? 'bad' : 'plain' };
}

function time(title: string, key: keyof Flow): Column<Flow> {
  return {
    ...rate(title, key),
    cell: (flow) => (flow[key] === null ? UNKNOWN : plain(millisecondsText(flow[key]))),
  };
}

function share(title: string, key: keyof Flow, some: number): Column<Flow> {
  return {
    ...rate(title, key),
    cell: (flow) => {
      const part = flow[key];
      if (part === null) return UNKNOWN;
      const tone = part > MUCH ? 'bad' : part > some ? 'warn' : 'plain';
      return { text: `${(100 * part).toFixed(0)}%`, tone };
    },
  };
}

function stateColumn<Row>(stateOf: (row: Row) => string): Column<Row> {
  return {
    ...text('STATE', stateOf),
    cell: (row) => ({ text: stateOf(row), tone: TONES[stateOf(row)] ?? 'bad' }),
  };
}

function upColumn<Row>(
  title: string,
  numbers: (row: Row) => readonly [number, number],
): Column<Row> {
  return {
    title,
    isNumber: true,
    // What lacks most comes first of the descending ones.
    key: (row) => numbers(row)[1] - numbers(row)[0],
    cell: (row) => {
      const [up, wanted] = numbers(row);
      return { text: `${up}/${wanted}`, tone: up < wanted ? 'bad' : 'plain' };
    },
  };
}

function restartsColumn<Row extends { readonly restarts: number }>(): Column<Row> {
  return {
    title: 'RESTARTS',
    isNumber: true,
    key: ({ restarts }) => restarts,
    cell: ({ restarts }) => ({ text: `${restarts}`, tone: restarts > 0 ? 'warn' : 'plain' }),
  };
}

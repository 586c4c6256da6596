import { isoTime, parseIsoTime } from '../../base/iso-time.ts';
import { LOG_LEVELS, type LogLevel } from '../../base/log-file.ts';
import type { Output } from '../output.ts';

/*
  One line of a log file. The engine's processes write JSON lines (base/log-file.ts); what code
  prints by itself is captured as it is, and has no time of its own.
*/

export interface LogLine {
  readonly container: number;
  readonly timeMs: number;
  readonly level: LogLevel;
  /** Who speaks: `stmgr-1`, `container_1_count_3`, `container_1_count_3/gateway`. */
  readonly process: string;
  readonly message: string;
  /** What else the line says. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface LineSource {
  readonly container: number;
  /** The process that the file belongs to. */
  readonly process: string;
  readonly kind: 'log' | 'output';
  /** When the file was last written, which is the best that is known about captured output. */
  readonly writtenAtMs: number;
}

/**
 * Any text is a line: a log that was cut in the middle is worth reading too. `otherwiseAtMs`: the
 * time of what has none of its own.
 */
export function parseLogLine(
  text: string,
  source: LineSource,
  otherwiseAtMs: number = source.writtenAtMs,
): LogLine {
  const { container, process, kind } = source;
  const asItIs: LogLine = {
    container,
    timeMs: otherwiseAtMs,
    level: 'info',
    process,
    message: text,
    fields: {},
  };
  const record = kind === 'log' ? parseRecord(text) : undefined;
  if (record === undefined) return asItIs;
  const { time, level, name, message, ...fields } = record;
  return {
    container,
    timeMs: (typeof time === 'string' ? parseIsoTime(time) : undefined) ?? otherwiseAtMs,
    level: LOG_LEVELS.find((known) => known === level) ?? 'info',
    process: typeof name === 'string' ? name : process,
    message: typeof message === 'string' ? message : text,
    fields,
  };
}

/** `container_1_count_3/gateway` → `count`; undefined for processes that are no instances. */
export function componentOf(process: string): string | undefined {
  return /^container_\d+_(.+)_\d+(?:\/.*)?$/.exec(process)?.[1];
}

/**
 * The name by which `status` knows the process that a line or a file is of: threads belong to their
 * process, and files of the engine's own processes have a prefix. `heron-stmgr-1` → `stmgr-1`.
 */
export function processNameOf(written: string): string {
  const [process = written] = written.split('/', 1);
  return process
    .replace(/^(container_\d+_.+_\d+)\.gateway$/, '$1')
    .replace(/^heron-(?=(?:stmgr|metricsmgr)-\d+$)/, '');
}

/** One JSON line, the same for captured output and for logs. */
export function jsonLine({ timeMs, level, process, container, message, fields }: LogLine): string {
  const time = isoTime(timeMs);
  return `${JSON.stringify({ ...fields, time, level, process, container, message })}\n`;
}

/** Time, process, level, message and facts on one line; a stack on those below it. */
export function humanLine(line: LogLine, output: Output): string {
  const { timeMs, level, process, message, fields } = line;
  const time = isoTime(timeMs).slice('2026-01-01T'.length, -1);
  const stack = stackIn(fields);
  const facts = factsOf(fields);
  const head = [
    output.style('dim', time),
    output.style('cyan', process),
    output.style(COLOURS[level], level.toUpperCase()),
    message,
    facts === '' ? '' : output.style('dim', facts),
  ];
  const first = head.filter((part) => part !== '').join(' ');
  return `${[first, ...stack.map((frame) => `    ${frame}`)].join('\n')}\n`;
}

const COLOURS = { debug: 'gray', info: 'green', warn: 'yellow', error: 'red' } as const;

export function stackIn({ error, stack }: Readonly<Record<string, unknown>>): readonly string[] {
  const ofError =
    typeof error === 'object' && error !== null && 'stack' in error ? error.stack : undefined;
  const text = ofError ?? stack;
  return typeof text === 'string' ? text.split('\n') : [];
}

/** What else a line says, without its stack. */
export function factsOf(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .filter(([key]) => key !== 'error' && key !== 'stack')
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}

function parseRecord(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined; // Cut off by a crash, or not ours.
  }
}

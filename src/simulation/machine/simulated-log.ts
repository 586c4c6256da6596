import { EngineError } from '../../base/errors.ts';
import { LOG_LEVELS, type LogFile, type LogLevel } from '../../base/log-file.ts';
import type { LogFields, Logger } from '../../base/logger.ts';

/** A line that a process has logged. */
export interface LogLine {
  /** Simulated time, not the wall clock's. */
  readonly atMs: number;
  /** The thread that speaks: `stmgr-1`, `container_1_count_3/gateway`. */
  readonly name: string;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

export interface SimulatedLogOptions {
  readonly name: string;
  readonly level: LogLevel;
  readonly nowMs: () => number;
  readonly onLine: (line: LogLine) => void;
}

/** A process's log whose lines go to the simulation instead of a file. */
export function openSimulatedLog(options: SimulatedLogOptions): LogFile {
  const threshold = { level: options.level };
  return {
    ...loggerOf(options, threshold, {}),
    dropped: 0,
    setLevel: (level) => {
      threshold.level = level;
    },
    close() {},
  };
}

function loggerOf(
  options: SimulatedLogOptions,
  threshold: { readonly level: LogLevel },
  bound: LogFields,
): Logger {
  const { name, nowMs, onLine } = options;
  const at = (lineLevel: LogLevel): Logger['info'] => {
    const rank = LOG_LEVELS.indexOf(lineLevel);
    return (message, fields) => {
      if (rank < LOG_LEVELS.indexOf(threshold.level)) return;
      onLine({ atMs: nowMs(), name, level: lineLevel, message, fields: { ...bound, ...fields } });
    };
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => loggerOf(options, threshold, { ...bound, ...fields }),
  };
}

/** The facts of a line for people; without stacks, whose paths differ between machines. */
export function fieldsText(fields: LogFields): string {
  return Object.entries(fields)
    .map(([key, value]) => `${key}=${valueText(value)}`)
    .join(' ');
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return `${value}`;
  if (value instanceof EngineError) return `${value.code} ${value.message}`;
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'bigint' ? part.toString() : part,
  );
}

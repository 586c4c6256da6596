import { LOG_LEVELS, type LogLevel } from '../../base/log-file.ts';
import type { LogFile } from './log-files.ts';
import { componentOf, factsOf, type LogLine, processNameOf, stackIn } from './log-line.ts';

/** What a person wants to see; what is absent or empty lets everything through. */
export interface LogFilter {
  /** By name; a line of any of them. */
  readonly components?: readonly string[];
  readonly containers?: readonly number[];
  /** As `processNameOf` gives them; an instance's gateway belongs to it. */
  readonly processes?: readonly string[];
  /** Or graver. */
  readonly level?: LogLevel | undefined;
  /** Found in the message, its facts or its stack. Without the flags `g` and `y`. */
  readonly text?: RegExp | undefined;
  /** Milliseconds since the epoch. */
  readonly sinceMs?: number | undefined;
  /** The moment itself is not wanted any more. */
  readonly untilMs?: number | undefined;
}

/** Whether any line of a file could be wanted: spares the reading. */
export function isFileWanted(
  { container, process, writtenAtMs }: Pick<LogFile, 'container' | 'process' | 'writtenAtMs'>,
  { components, containers, processes, sinceMs }: LogFilter,
): boolean {
  return (
    isAmong(componentOf(processNameOf(process)), components) &&
    isAmong(container, containers) &&
    isAmong(processNameOf(process), processes) &&
    // What a file says last was written when it was last written.
    (sinceMs === undefined || writtenAtMs >= sinceMs)
  );
}

export function isWanted(line: LogLine, filter: LogFilter): boolean {
  const { components, containers, processes, level, text, sinceMs, untilMs } = filter;
  return (
    (level === undefined || LOG_LEVELS.indexOf(line.level) >= LOG_LEVELS.indexOf(level)) &&
    (sinceMs === undefined || line.timeMs >= sinceMs) &&
    (untilMs === undefined || line.timeMs < untilMs) &&
    isAmong(componentOf(line.process), components) &&
    isAmong(line.container, containers) &&
    isAmong(processNameOf(line.process), processes) &&
    (text === undefined || isIn(line, text))
  );
}

function isAmong<Value>(value: Value | undefined, wanted: readonly Value[] = []): boolean {
  return wanted.length === 0 || (value !== undefined && wanted.includes(value));
}

function isIn({ message, fields }: LogLine, text: RegExp): boolean {
  return (
    text.test(message) ||
    text.test(factsOf(fields)) ||
    stackIn(fields).some((line) => text.test(line))
  );
}

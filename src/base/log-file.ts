/*
  Where log lines go: JSON lines in a bounded file for the engine's processes, plain lines on
  standard error for people at a terminal. Written here rather than by a library because every
  process and every thread pays for it at its start: pino took 13 ms and 7.5 MB in a new process
  and as long, with 2.3 MB, in each further thread.

  L1. A line is one append (RotatingFile R1), so lines of two threads never mix and nothing has to
      be flushed.
  L2. A log call never throws, whatever its fields are and whatever the disk does.
*/

import { writeSync } from 'node:fs';
import type { Clock } from './clock.ts';
import { EngineError, messageOf, stackOf } from './errors.ts';
import { LOG_LEVELS, type LogFields, type Logger, type LogLevel } from './logger.ts';
import { RotatingFile } from './rotating-file.ts';

export { LOG_LEVELS, type LogLevel };

export interface LogFileOptions {
  readonly file: string;
  /** Lines below it are not written. */
  readonly level: LogLevel;
  /** Who speaks: `stmgr-1`, `container_1_count_3`. */
  readonly name: string;
  readonly clock: Clock;
  readonly maxBytes: number;
  /** The current file and the older ones together; 1 or more. */
  readonly filesMax: number;
}

export interface LogFile extends Logger {
  /** How many lines could not be written; the next line that can be is followed by their number. */
  readonly dropped: number;
  /** From now on lines below it are not written, by this log and by all of its children. */
  setLevel(level: LogLevel): void;
  /** Idempotent; what is logged afterwards is lost. */
  close(): void;
}

export interface ConsoleLoggerOptions {
  readonly level: LogLevel;
  readonly clock: Clock;
}

interface Entry {
  readonly timeMs: number;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** Longer lines lose their fields and the end of their message: a log is not a dump. */
const LINE_CHARACTERS_MAX = 65_536;
const MESSAGE_CHARACTERS_MAX = 16_384;

/** Fields of these names are never written out. */
const SECRET_NAME = /(?:password|secret|token)$/i;

/**
 * Opens a log with a file descriptor of its own, so that it works in any thread.
 *
 * @throws EngineError FILE_FAILED when the file cannot be opened.
 */
export function openLogger(options: LogFileOptions): LogFile {
  const { file, level, name, clock, maxBytes, filesMax } = options;
  const destination = new RotatingFile({ file, bytesMax: maxBytes, filesMax });
  let reported = 0;
  const threshold = { level };
  const logger = createLogger({ threshold, clock }, (entry) => {
    if (!destination.append(jsonLine(name, entry))) return;
    const lostLines = destination.dropped - reported;
    if (lostLines === 0) return;
    reported += lostLines;
    const fields = { lostLines, reason: destination.lastFailure };
    const message = 'log lines before the last one were lost';
    destination.append(jsonLine(name, { timeMs: entry.timeMs, level: 'warn', message, fields }));
  });
  return {
    ...logger,
    get dropped() {
      return destination.dropped;
    },
    setLevel: (next) => {
      threshold.level = next;
    },
    close: () => destination.close(),
  };
}

/** Plain lines on standard error: time, level, message, facts. */
export function openConsoleLogger(options: ConsoleLoggerOptions): Logger {
  const { level: lowest, clock } = options;
  return createLogger(
    { threshold: { level: lowest }, clock },
    ({ timeMs, level, message, fields }) => {
      const time = new Date(timeMs).toISOString().slice('2026-01-01T'.length, -1);
      const facts = Object.keys(fields).length === 0 ? '' : ` ${jsonText(fields)}`;
      writeToStandardError(`${time} ${level.padEnd(5)} ${message}${facts}\n`);
    },
  );
}

/** Writes to standard error at once; a reader that has gone away is not our failure. */
export function writeToStandardError(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // There is nobody left to tell.
  }
}

interface LoggerOptions {
  /** Shared by a logger and its children; its owner may change it. */
  readonly threshold: { level: LogLevel };
  readonly clock: Clock;
}

function createLogger(
  options: LoggerOptions,
  write: (entry: Entry) => void,
  bound: LogFields = {},
): Logger {
  const { threshold } = options;
  const at = (level: LogLevel): Logger['info'] => {
    const rank = LOG_LEVELS.indexOf(level);
    return (message, fields) => {
      if (rank < LOG_LEVELS.indexOf(threshold.level)) return;
      const timeMs = options.clock.wallNow();
      write({ timeMs, level, message, fields: { ...bound, ...fields } });
    };
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => createLogger(options, write, { ...bound, ...fields }),
  };
}

function jsonLine(name: string, { timeMs, level, message, fields }: Entry): string {
  const head = { time: new Date(timeMs).toISOString(), level, name, message };
  // The head stands first for readers, and last so that no field can take its place.
  const line = jsonText({ ...head, ...fields, ...head });
  if (line.length <= LINE_CHARACTERS_MAX) return `${line}\n`;
  const shortened = { ...head, message: message.slice(0, MESSAGE_CHARACTERS_MAX), shortened: true };
  return `${jsonText(shortened)}\n`;
}

/** The text of a record whose values may be anything (L2). */
function jsonText(record: LogFields): string {
  try {
    return JSON.stringify(record, writable);
  } catch (error) {
    // A cycle, or a `toJSON` that throws: the strings and numbers are worth having anyway.
    const plain = Object.entries(record).filter(([, value]) => typeof value !== 'object');
    return JSON.stringify({ ...Object.fromEntries(plain), unwritable: messageOf(error) }, writable);
  }
}

function writable(key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Error) return errorFields(value);
  if (SECRET_NAME.test(key) && typeof value === 'string') return '[secret]';
  return value;
}

function errorFields(error: Error): LogFields {
  const code = error instanceof EngineError ? error.code : undefined;
  return { code, message: error.message, stack: stackOf(error), cause: error.cause };
}

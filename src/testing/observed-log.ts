import { LOG_LEVELS, type LogLevel } from '../base/log-file.ts';
import type { LogFields, Logger } from '../base/logger.ts';

/** A line that was logged in a run. */
export interface LoggedLine {
  /** Simulated milliseconds since the start of the run. */
  readonly atMs: number;
  /** Whose log: an instance, or a process of the engine. */
  readonly name: string;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that gives its lines to a test. */
export function observedLogger(
  note: (level: LogLevel, message: string, fields: LogFields) => void,
  bound: LogFields = {},
): Logger {
  const [debug, info, warn, error] = LOG_LEVELS.map(
    (level): Logger['info'] =>
      (message, fields = {}) =>
        note(level, message, { ...bound, ...fields }),
  ) as [Logger['info'], Logger['info'], Logger['info'], Logger['info']];
  const child = (fields: LogFields): Logger => observedLogger(note, { ...bound, ...fields });
  return { debug, info, warn, error, child };
}

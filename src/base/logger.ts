/** From the least to the most important. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Facts that go with a log line; names in camelCase, units last. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes JSON lines. Safe to call from any thread that made its own logger. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same destination with these fields on every line. */
  child(fields: LogFields): Logger;
}

/** Swallows everything; for tests that do not look at logs. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};

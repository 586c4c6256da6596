/** How many of a dead process's lines are kept for reports. */
export const LAST_LINES_MAX = 20;

/** How a process ended, as far as its watcher could see. */
export interface Ending {
  /** Null when a signal ended it, when it never started, or when nobody could see. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly lastLines: readonly string[];
  /** Why it could not be started at all. */
  readonly startProblem?: string;
}

/** What a supervisor asks its child, and what that answers: lines of text. */
export interface LineChannel {
  /** False when the line cannot be sent: the child has ended, or has not read for long. */
  send(line: string): boolean;
  /** Replaces the one who listened before. */
  listen(onLine: (line: string) => void): void;
}

/** One incarnation of a process that somebody watches. */
export interface ProcessHandle {
  /** Undefined when it could not be started; `ended` then says why. */
  readonly pid: number | undefined;
  /** Settles once, when the process is gone; never rejects. */
  readonly ended: Promise<Ending>;
  /** Settles when the process has said that it does its work; absent when it never does. */
  readonly ready?: Promise<void>;
  /** How many beats (base/beat.ts) were heard of it so far; absent for one that may be silent. */
  readonly beats?: () => number;
  /** Absent for a child that cannot be asked. */
  readonly channel?: LineChannel;
  /** SIGTERM asks the process; SIGKILL ends it and what it left in its process group. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
}

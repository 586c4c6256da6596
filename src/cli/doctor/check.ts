/** What the doctor found out about one thing that topologies need. */
export interface Check {
  readonly name: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  /** One line: what is so. */
  readonly message: string;
  /** What to do about it; null when nothing has to be done. */
  readonly next: string | null;
}

export function ok(name: string, message: string): Check {
  return { name, verdict: 'ok', message, next: null };
}

/** Topologies run, but may not for long, or not well. */
export function warn(name: string, message: string, next: string): Check {
  return { name, verdict: 'warn', message, next };
}

/** Topologies cannot run. */
export function fail(name: string, message: string, next: string): Check {
  return { name, verdict: 'fail', message, next };
}

import type { BytesEvent, SimulationEvent } from './checker.ts';

/** An end of a process that carries data, or of a connection between two of them. */
export interface Break {
  readonly atMs: number;
  /** The process, or both ends of the connection. */
  readonly processes: readonly string[];
}

/** Ends of connections are found by looking: that much later, at most. */
const SEEN_WITHIN_MS = 100;

/** Whatever may have cost tuples, acks or fails: when, and whose. */
export class Breaks {
  readonly #breaks: Break[] = [];
  readonly #connections = new Map<number, readonly [string, string]>();

  observe(event: SimulationEvent): void {
    if (event.kind === 'bytes') this.#note(event);
    else if (event.kind === 'connection-end') {
      const processes = this.#connections.get(event.connection);
      this.#connections.delete(event.connection);
      if (processes !== undefined) this.#breaks.push({ atMs: event.atMs, processes });
    } else if (event.kind === 'process-end' && isDataProcess(event.process)) {
      this.#breaks.push({ atMs: event.atMs, processes: [event.process] });
    }
  }

  /** Whether there was one between two times; of one of these processes, where they are given. */
  has(fromMs: number, toMs: number, processes?: readonly string[]): boolean {
    return this.#breaks.some(
      (one) =>
        one.atMs >= fromMs &&
        one.atMs <= toMs + SEEN_WITHIN_MS &&
        (processes?.some((process) => one.processes.includes(process)) ?? true),
    );
  }

  /** How many connections of a process have ended up to now. */
  connectionEndsOf(process: string): number {
    return this.#breaks.filter(
      ({ processes }) => processes.length > 1 && processes.includes(process),
    ).length;
  }

  /** When a process or its connections last had an end, if nothing else had between two times. */
  onlyOf(process: string, fromMs: number, toMs: number): number | undefined {
    const between = this.#breaks.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
    if (!between.every(({ processes }) => processes.includes(process))) return undefined;
    return between.at(-1)?.atMs;
  }

  #note({ connection, from, to }: BytesEvent): void {
    if (this.#connections.has(connection)) return;
    const ends = [processOf(from), processOf(to)] as const;
    if (ends.every(isDataProcess)) this.#connections.set(connection, ends);
  }
}

function isDataProcess(process: string): boolean {
  return process.startsWith('stmgr-') || process.startsWith('container_');
}

function processOf(thread: string): string {
  return thread.split('/')[0] ?? thread;
}

/*
  Exceptions of user code on their way out. The same stack trace again only raises a count, so that
  a component that throws at every tuple costs one entry; memory is bounded by TRACES_MAX entries of
  TRACE_CHARACTERS_MAX, and what finds no place is counted.
*/

const TRACES_MAX = 64;
/**
 * Deep enough for any cause; 64 traces stay far below a metrics manager's packet limit of 1 MiB.
 */
const TRACE_CHARACTERS_MAX = 4_096;

export interface TalliedException {
  readonly stackTrace: string;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly count: number;
}

export class ExceptionTally {
  #byTrace = new Map<string, TalliedException>();
  #dropped = 0;

  add(trace: string, atMs: number): void {
    const stackTrace = trace.slice(0, TRACE_CHARACTERS_MAX);
    const known = this.#byTrace.get(stackTrace);
    if (known === undefined && this.#byTrace.size >= TRACES_MAX) {
      this.#dropped += 1;
      return;
    }
    const { firstAtMs = atMs, count = 0 } = known ?? {};
    this.#byTrace.set(stackTrace, { stackTrace, firstAtMs, lastAtMs: atMs, count: count + 1 });
  }

  /** Hands out everything and starts again. */
  take(): { readonly exceptions: readonly TalliedException[]; readonly dropped: number } {
    const taken = { exceptions: [...this.#byTrace.values()], dropped: this.#dropped };
    this.#byTrace = new Map();
    this.#dropped = 0;
    return taken;
  }
}

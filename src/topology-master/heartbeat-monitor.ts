import type { StreamManagerId } from '../base/ids.ts';

/*
  Who has fallen silent. Times are the monotonic clock's, so a stepping wall clock proves nothing.

  H1. One silent peer is the peer's fault; when most of several fall silent together, or when this
      process itself stood still, the observer is the likelier culprit: then nobody is judged and
      every silence is counted from that moment again.
  H2. Being found silent costs a peer its connection and nothing else: no instance moves.
*/

export type Verdict =
  | { readonly kind: 'all-heard' }
  | { readonly kind: 'silent'; readonly ids: readonly StreamManagerId[] }
  | { readonly kind: 'observer-suspected'; readonly ids: readonly StreamManagerId[] };

export interface HeartbeatLimits {
  /** Silence beyond this counts; the setting `heron.tmanager.stmgr.state.timeout.ms`. */
  readonly timeoutMs: number;
  /** How often `check` is called. */
  readonly checkPeriodMs: number;
}

export class HeartbeatMonitor {
  readonly #limits: HeartbeatLimits;
  readonly #heardAtMs = new Map<StreamManagerId, number>();
  #checkedAtMs: number;
  /** No silence counts from before this moment (H1). */
  #countedFromMs: number;

  constructor(limits: HeartbeatLimits, nowMs: number) {
    this.#limits = limits;
    this.#checkedAtMs = nowMs;
    this.#countedFromMs = nowMs;
  }

  heard(id: StreamManagerId, nowMs: number): void {
    this.#heardAtMs.set(id, nowMs);
  }

  forget(id: StreamManagerId): void {
    this.#heardAtMs.delete(id);
  }

  lastHeardMs(id: StreamManagerId): number | undefined {
    return this.#heardAtMs.get(id);
  }

  check(nowMs: number): Verdict {
    const sinceCheckMs = nowMs - this.#checkedAtMs;
    this.#checkedAtMs = nowMs;
    const ids = this.#silentAt(nowMs);
    if (ids.length === 0) return { kind: 'all-heard' };
    const stoodStill = sinceCheckMs > 2 * this.#limits.checkPeriodMs;
    const isMost = ids.length >= 2 && ids.length * 2 > this.#heardAtMs.size;
    if (!stoodStill && !isMost) return { kind: 'silent', ids };
    this.#countedFromMs = nowMs;
    return { kind: 'observer-suspected', ids };
  }

  #silentAt(nowMs: number): StreamManagerId[] {
    const silent: StreamManagerId[] = [];
    for (const [id, heardAtMs] of this.#heardAtMs) {
      const sinceMs = Math.max(heardAtMs, this.#countedFromMs);
      if (nowMs - sinceMs > this.#limits.timeoutMs) silent.push(id);
    }
    return silent;
  }
}

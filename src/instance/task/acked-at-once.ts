import type { Counter } from '../../metrics/metrics-registry.ts';
import type { SpoutMessages } from './spout-messages.ts';

/** So many ids are told before the list is cut. */
const CUT_AT = 1024;

/**
 * Message ids that are acked because they were emitted (K2): all of them under at most once, those
 * of streams that nobody reads under at least once.
 */
export class AckedAtOnce implements SpoutMessages {
  readonly isFull = false;
  readonly reason = undefined;
  readonly latencyMs = 0;
  messageId: unknown = undefined;
  readonly #acked: Counter;
  #ids: unknown[] = [];
  #at = 0;

  constructor(acked: Counter) {
    this.#acked = acked;
  }

  get count(): number {
    return this.#ids.length - this.#at;
  }

  get hasNews(): boolean {
    return this.#at < this.#ids.length;
  }

  add(messageId: unknown): void {
    this.#ids.push(messageId);
  }

  next(): boolean {
    if (!this.hasNews) return false;
    this.messageId = this.#ids[this.#at];
    this.#at += 1;
    if (this.#at === this.#ids.length) {
      this.#ids.length = 0;
      this.#at = 0;
    } else if (this.#at === CUT_AT) {
      this.#ids = this.#ids.slice(CUT_AT);
      this.#at = 0;
    }
    this.#acked.value += 1;
    return true;
  }
}

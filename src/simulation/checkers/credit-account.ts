import type { TaskId } from '../../base/ids.ts';

/** The two stream managers, and the task of the first one to which the second one sends. */
export interface CreditWay {
  /** Who owes. */
  readonly from: string;
  /** Who is owed. */
  readonly to: string;
  readonly task: TaskId;
}

/**
 * What one stream manager owes another for one task, as an observer knows it.
 *
 *     arrived ──> consumed ──> owed ──> granted
 *        └─ link breaks ─> stale: consumed later, and owed to nobody
 */
export class CreditAccount {
  readonly way: CreditWay;
  #arrivedBytes = 0;
  #consumedBytes = 0;
  #staleBytes = 0;
  #owedBytes = 0;
  /** When it last began to owe anything, or paid a part. */
  #sinceMs = 0;

  constructor(way: CreditWay) {
    this.way = way;
  }

  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** Sets came over the link. */
  arrived(bytes: number): void {
    this.#arrivedBytes += bytes;
  }

  /** The task has consumed them, oldest first. */
  consumed(bytes: number, atMs: number): void {
    this.#consumedBytes += bytes;
    const stale = Math.min(this.#staleBytes, bytes);
    this.#staleBytes -= stale;
    if (stale === bytes) return;
    if (this.#owedBytes === 0) this.#sinceMs = atMs;
    this.#owedBytes += bytes - stale;
  }

  /** Returns the bytes that nobody owed. */
  granted(bytes: number, atMs: number): number {
    const excessBytes = Math.max(0, bytes - this.#owedBytes);
    this.#owedBytes = Math.max(0, this.#owedBytes - bytes);
    this.#sinceMs = atMs;
    return excessBytes;
  }

  isOverdue(atMs: number, withinMs: number): boolean {
    return this.#owedBytes > 0 && atMs - this.#sinceMs > withinMs;
  }

  /**
   * Both sides start anew. What an instance lost with its own connection counts as not consumed:
   * the account then takes more for stale than there is, which hides a debt and never invents one.
   */
  linkBroke(): void {
    this.#owedBytes = 0;
    this.#staleBytes = Math.max(0, this.#arrivedBytes - this.#consumedBytes);
  }
}

import type { Clock, Timer } from '../base/clock.ts';

export interface CommitterOptions<Position> {
  readonly commit: (position: Position) => void | Promise<void>;
  readonly clock: Clock;
  /** Asked after each commit. */
  readonly intervalMs: () => number;
  /** A commit has failed. */
  readonly onFailure: (error: unknown) => void;
  /** All that was asked for has been committed. */
  readonly onClean: () => void;
}

/**
 * Commits positions in the background, a batch at a time.
 *
 * C1. One commit at a time, and none within `intervalMs` of the end of the one before; the newest
 *     position wins.
 * C2. One that fails is repeated after the interval, with the newest position of then. Only the
 *     first of a run of failures is told.
 * C3. After `close` no commit begins.
 */
export class Committer<Position> {
  readonly #options: CommitterOptions<Position>;
  #wanted: { readonly position: Position } | undefined;
  #timer: Timer | undefined;
  #running: Promise<boolean> | undefined;
  #earliestMs = Number.NEGATIVE_INFINITY;
  #isFailing = false;
  #isClosed = false;

  constructor(options: CommitterOptions<Position>) {
    this.#options = options;
  }

  /** Everything that was asked for has been committed. */
  get isClean(): boolean {
    return this.#wanted === undefined && this.#running === undefined;
  }

  request(position: Position): void {
    this.#wanted = { position };
    this.#schedule();
  }

  /** Commits what there is without waiting for the interval; false when that has failed. */
  async flush(): Promise<boolean> {
    await this.#running;
    return this.#wanted === undefined || this.#begin();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#running !== undefined || this.#isClosed) return;
    const { clock } = this.#options;
    const waitMs = Math.max(0, this.#earliestMs - clock.now());
    this.#timer = clock.after(waitMs, () => void this.#begin());
  }

  /** Never rejects. */
  #begin(): Promise<boolean> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const wanted = this.#wanted;
    if (wanted === undefined) return Promise.resolve(true);
    this.#wanted = undefined;
    const running = this.#commit(wanted);
    this.#running = running;
    return running;
  }

  async #commit(wanted: { readonly position: Position }): Promise<boolean> {
    const { commit, clock, intervalMs, onFailure, onClean } = this.#options;
    let succeeded = true;
    try {
      await commit(wanted.position);
      this.#isFailing = false;
    } catch (error) {
      succeeded = false;
      this.#wanted ??= wanted;
      if (!this.#isFailing) onFailure(error);
      this.#isFailing = true;
    }
    this.#running = undefined;
    this.#earliestMs = clock.now() + intervalMs();
    if (this.#wanted === undefined) onClean();
    else this.#schedule();
    return succeeded;
  }
}

import type { Clock } from '../base/clock.ts';

/** Something that has work to finish when the events at hand have been handled. */
export interface Flushable {
  flush(): void;
}

/**
 * The end of a turn of the event loop. First every outbox with new tuples sends what it may, then
 * every source looks whether its bytes can be given back, which depends on what the outboxes sent.
 * No timer takes part: an idle stream is sent at once, a busy one in full batches.
 */
export class FlushSchedule {
  readonly #clock: Clock;
  #outboxes: Flushable[] = [];
  #sources: Flushable[] = [];
  #isScheduled = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The caller adds itself once a turn. */
  addOutbox(outbox: Flushable): void {
    this.#outboxes.push(outbox);
    this.#schedule();
  }

  /** The caller adds itself once a turn. */
  addSource(source: Flushable): void {
    this.#sources.push(source);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#clock.soon(this.#flush);
  }

  readonly #flush = (): void => {
    this.#isScheduled = false;
    const outboxes = this.#outboxes;
    this.#outboxes = [];
    for (const outbox of outboxes) outbox.flush();
    // Outboxes may have added sources just now; they belong to this turn.
    const sources = this.#sources;
    this.#sources = [];
    for (const source of sources) source.flush();
  };
}

import type { Clock, Timer } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';

/*
  Keeps a stored report, in the state tree or in a file, equal to what its owner says.

  R1. At most one write is under way; changes meanwhile lead to one more, with the newest value.
  R2. A failed write is repeated until it succeeds or the publisher is closed: the store may come
      back long after the last change. Nothing else ever waits for a write.
*/

export interface ReportPublisherOptions {
  /** Stores the value at hand, whole or not at all. */
  readonly write: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const RETRY_MS = 1_000;

export class ReportPublisher {
  readonly #options: ReportPublisherOptions;
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isWriting = false;
  #isStale = false;
  #closed = false;

  constructor(options: ReportPublisherOptions) {
    this.#options = options;
  }

  /** To be called after every change; several changes in one turn cost one write. */
  changed(): void {
    this.#isStale = true;
    this.#schedule(0);
  }

  /** Resolves when the last write is done; nothing is written afterwards. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#writing;
  }

  #schedule(delayMs: number): void {
    if (this.#closed || this.#isWriting || this.#timer !== undefined) return;
    const { clock } = this.#options;
    const write = (): void => {
      this.#timer = undefined;
      this.#writing = this.#write();
    };
    this.#timer = delayMs === 0 ? clock.soon(write) : clock.after(delayMs, write);
  }

  async #write(): Promise<void> {
    const { write, logger } = this.#options;
    this.#isWriting = true;
    this.#isStale = false;
    let pauseMs = 0;
    try {
      await write();
    } catch (error) {
      logger.warn('cannot write the report', { reason: messageOf(error) });
      this.#isStale = true;
      pauseMs = RETRY_MS;
    }
    this.#isWriting = false;
    if (this.#isStale) this.#schedule(pauseMs);
  }
}

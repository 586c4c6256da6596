import type { Clock } from '../../base/clock.ts';
import type { Doorbell } from '../../ring/doorbell.ts';
import type { DueEvents } from './due-events.ts';
import { IdleBackoff } from './idle-backoff.ts';
import { RoomOrEvent } from './room-or-event.ts';
import type { TupleOutput } from './tuple-output.ts';

export interface SpoutWaitsOptions {
  readonly output: TupleOutput;
  readonly due: DueEvents;
  readonly bell: Doorbell;
  readonly clock: Clock;
  readonly idleBackoffMaxMs: number;
  /** Whether the gateway has something for the loop; asked when the doorbell rings. */
  readonly hasNews: () => boolean;
}

/**
 * Where the loop of a spout waits, and what ends the waits.
 *
 * W1. `wake` ends every wait, or keeps the next one from happening. So does news of the gateway,
 *     where the wait listens for it: only then does the task look at its doorbell.
 */
export class SpoutWaits {
  readonly #options: SpoutWaitsOptions;
  readonly #room: RoomOrEvent;
  readonly #backoff: IdleBackoff;
  #resume: (() => void) | undefined;
  #isListening = false;
  #isClosed = false;

  constructor(options: SpoutWaitsOptions) {
    this.#options = options;
    this.#room = new RoomOrEvent(options.output, options.due);
    this.#backoff = new IdleBackoff(options.clock, options.idleBackoffMaxMs);
  }

  wake(): void {
    this.#resume?.();
    this.#resume = undefined;
    this.#backoff.wake();
  }

  /** The loop is over. */
  close(): void {
    this.#isClosed = true;
    if (this.#isListening) this.#options.bell.ring();
  }

  /** Something was emitted: the next idle wait starts from nothing again. */
  resetIdle(): void {
    this.#backoff.reset();
  }

  /** For a moment, because there was nothing to emit. */
  idle(listens: boolean): Promise<void> {
    const waiting = this.#backoff.wait();
    if (listens) this.#listen();
    return waiting;
  }

  /** Until something happens. What was emitted has left. */
  asleep(listens: boolean): Promise<void> {
    this.#options.output.flush();
    if (!this.#options.due.isEmpty) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#resume = resolve;
    if (listens) this.#listen();
    return promise;
  }

  /** Until there is room for a set; resolves to false when nobody will make any. */
  room(listens: boolean): Promise<boolean> {
    const room = this.#room.wait();
    return listens ? Promise.race([room, this.asleep(true).then(() => true)]) : room;
  }

  #listen(): void {
    if (!this.#isListening) void this.#wakeAtNews();
  }

  async #wakeAtNews(): Promise<void> {
    const { bell, hasNews } = this.#options;
    this.#isListening = true;
    for (;;) {
      const seen = bell.sequence();
      if (this.#isClosed || hasNews()) break;
      await bell.wait(seen);
    }
    this.#isListening = false;
    this.wake();
  }
}

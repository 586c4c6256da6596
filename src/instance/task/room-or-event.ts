import type { DueEvents } from './due-events.ts';
import type { TupleOutput } from './tuple-output.ts';

/** A runner's wait for room in the ring, which ends too when something is due meanwhile. */
export class RoomOrEvent {
  readonly #output: TupleOutput;
  readonly #due: DueEvents;
  /** One wait for room at a time, however many events end it. */
  #room: Promise<boolean> | undefined;

  constructor(output: TupleOutput, due: DueEvents) {
    this.#output = output;
    this.#due = due;
  }

  /** Flushes, and resolves to false when nobody will make room any more. */
  wait(): Promise<boolean> {
    this.#output.flush();
    this.#room ??= this.#output.waitForRoom().finally(() => {
      this.#room = undefined;
    });
    return Promise.race([this.#room, this.#due.arrival().then(() => true)]);
  }
}

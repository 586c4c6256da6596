import type { InstanceId } from '../base/ids.ts';

/** Which process of an instance it is. */
export interface Incarnation {
  /** Of the start of the machine. */
  readonly bootId: string;
  /** Clock ticks from then to the start of the process. */
  readonly startTicks: number;
}

/**
 * Which process is an instance (row S41). Two may believe that they are: one was stopped or slow
 * until another took its place, and goes on where it was, with sets to send and a connection to
 * make again.
 *
 * I1. Of two processes of one machine's start the one that was started later is the instance; it
 *     does not matter which of them comes first. Nothing of the earlier one is accepted any more.
 * I2. Processes that cannot be compared are taken in the order in which they come: those of another
 *     machine, or of another implementation, which do not say when they were started. So are those
 *     of one tick: nobody starts a process, replaces it and starts another one in ten milliseconds.
 */
export class Incarnations {
  readonly #latest = new Map<InstanceId, Incarnation>();

  /** Whether a process that was started later has been heard of. */
  isReplaced(id: InstanceId, incarnation: Incarnation): boolean {
    const latest = this.#latest.get(id);
    if (latest === undefined || latest.bootId !== incarnation.bootId) return false;
    return incarnation.startTicks < latest.startTicks;
  }

  /** It has been accepted. */
  note(id: InstanceId, incarnation: Incarnation): void {
    this.#latest.set(id, incarnation);
  }

  /** The instance is gone for good. */
  forget(id: InstanceId): void {
    this.#latest.delete(id);
  }
}

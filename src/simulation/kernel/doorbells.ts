/*
  Doorbells of simulated threads, which see each other's memory as real threads do.

  Words (int32) in the memory of a bell; it may be known as several objects over the same bytes, so
  what tells one bell from another is written into it:

      SEQUENCE   counts rings
      NUMBER     of this bell in its world, from 1
*/

import { assert } from '../../base/assert.ts';
import type { Doorbell, Doorbells } from '../../ring/doorbell.ts';
import type { SimulatedThread } from './simulated-thread.ts';

const SEQUENCE = 0;
const NUMBER = 1;
const DOORBELL_BYTES = 64;
/** What the platform needs to wake up a thread. */
const WAKE_MS = 0.01;

interface Sleeper {
  readonly thread: SimulatedThread;
  readonly wake: () => void;
}

/** All doorbells of a world. */
export class SimulatedDoorbells {
  /** By number of the bell; only those on which somebody sleeps. */
  readonly #sleepers = new Map<number, Sleeper[]>();
  #bells = 0;

  /** How this thread makes its own, and those that it rings. */
  of(thread: SimulatedThread): Doorbells {
    return (memory = new SharedArrayBuffer(DOORBELL_BYTES)) => this.#bell(thread, memory);
  }

  #bell(thread: SimulatedThread, memory: SharedArrayBuffer): Doorbell {
    const words = new Int32Array(memory);
    if (words[NUMBER] === 0) {
      this.#bells += 1;
      words[NUMBER] = this.#bells;
    }
    const number = words[NUMBER] as number;
    const sequence = (): number => words[SEQUENCE] as number;
    return {
      memory,
      sequence,
      ring: () => {
        if (thread.state === 'dead') return;
        words[SEQUENCE] = sequence() + 1;
        this.#wakeAll(number);
      },
      wait: (seen) => {
        if (thread.state !== 'dead' && sequence() !== seen) return Promise.resolve();
        return new Promise((resolve) => this.#sleep(number, { thread, wake: resolve }));
      },
      waitBlocking: () => assert(false, 'nothing blocks in a simulated world'),
    };
  }

  #sleep(number: number, sleeper: Sleeper): void {
    if (sleeper.thread.state === 'dead') return; // Its wait never ends.
    const others = this.#sleepers.get(number);
    if (others === undefined) this.#sleepers.set(number, [sleeper]);
    else others.push(sleeper);
  }

  #wakeAll(number: number): void {
    const sleepers = this.#sleepers.get(number);
    if (sleepers === undefined) return;
    this.#sleepers.delete(number);
    for (const { thread, wake } of sleepers) thread.post(WAKE_MS, wake);
  }
}

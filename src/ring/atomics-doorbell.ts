/*
  The doorbell between real threads.

  Words (int32) in the shared memory:

      SEQUENCE   counts rings; written by whoever rings
      ASLEEP_AT  the sequence at which the owner went to sleep in `wait`; written by the owner
      BLOCKED_AT the same for `waitBlocking`

  A1. A sleeper first writes where it sleeps (ASLEEP_AT = seen), and then lets the platform compare
      SEQUENCE with `seen` and sleep in one indivisible step.
  A2. Only the ring that moves SEQUENCE on from ASLEEP_AT has to wake the sleeper. If it came before
      the comparison, the sleeper did not sleep; if after, it sees ASLEEP_AT, because A1 wrote it
      earlier, and notifies a sleeper that is already in the platform's list. All other rings cost
      one addition and two loads: rings between the wake-up and the moment the owner really runs are
      nearly free.
  A3. A thread has at most one sleep of each kind at a time (`wait` is shared while it lasts), so
      ASLEEP_AT is never overwritten while somebody sleeps on its old value. `waitBlocking` inside a
      pending `wait` is normal: user code runs in timers too.
*/

import { MessageChannel } from 'node:worker_threads';
import type { Doorbell, Doorbells } from './doorbell.ts';

const SEQUENCE = 0;
const ASLEEP_AT = 1;
const BLOCKED_AT = 2;
/** A cache line of its own, so that neighbours in memory do not slow it down. */
const DOORBELL_BYTES = 64;

const AWAKE: Promise<void> = Promise.resolve();

export class AtomicsDoorbell implements Doorbell {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #onWoken = (): void => this.#wakeUp();
  #sleep: Promise<void> | undefined;
  #anchor: MessageChannel | undefined;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(DOORBELL_BYTES)) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, DOORBELL_BYTES / Int32Array.BYTES_PER_ELEMENT);
  }

  ring(): void {
    const before = Atomics.add(this.#words, SEQUENCE, 1);
    const asleepAt = Atomics.load(this.#words, ASLEEP_AT);
    const blockedAt = Atomics.load(this.#words, BLOCKED_AT);
    if (asleepAt === before || blockedAt === before) Atomics.notify(this.#words, SEQUENCE);
  }

  sequence(): number {
    return Atomics.load(this.#words, SEQUENCE);
  }

  wait(seen: number): Promise<void> {
    // Still asleep at an older value: the ring that moved on from it is waking us already (A2).
    if (this.#sleep !== undefined) return this.#sleep;
    Atomics.store(this.#words, ASLEEP_AT, seen);
    const result = Atomics.waitAsync(this.#words, SEQUENCE, seen);
    if (!result.async) return AWAKE;
    this.#keepAlive();
    this.#sleep = result.value.then(this.#onWoken);
    return this.#sleep;
  }

  waitBlocking(seen: number, maxMs: number): void {
    Atomics.store(this.#words, BLOCKED_AT, seen);
    Atomics.wait(this.#words, SEQUENCE, seen, maxMs);
  }

  #wakeUp(): void {
    this.#sleep = undefined;
    this.#anchor?.port1.unref();
  }

  /**
   * A promise of Atomics.waitAsync does not keep the event loop alive: a process with
   * nothing else open would end in the middle of its sleep. A referenced port does, and costs no
   * timer.
   */
  #keepAlive(): void {
    if (this.#anchor === undefined) {
      this.#anchor = new MessageChannel();
      this.#anchor.port1.on('message', () => {});
    }
    this.#anchor.port1.ref();
  }
}

export const atomicsDoorbells: Doorbells = (memory) => new AtomicsDoorbell(memory);

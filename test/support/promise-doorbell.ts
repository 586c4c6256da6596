import type { Doorbell, Doorbells } from '../../src/ring/doorbell.ts';

/**
 * A doorbell whose threads are all this one. Whoever sleeps on it keeps no event loop alive: a test
 * that waits for a ring that never comes fails at once.
 */
export class PromiseDoorbell implements Doorbell {
  readonly memory = new SharedArrayBuffer(4);
  #rings = 0;
  #sleepers: (() => void)[] = [];

  /** Waits that have not ended. */
  get sleeperCount(): number {
    return this.#sleepers.length;
  }

  ring(): void {
    this.#rings += 1;
    const sleepers = this.#sleepers;
    this.#sleepers = [];
    for (const wake of sleepers) wake();
  }

  sequence(): number {
    return this.#rings;
  }

  wait(seen: number): Promise<void> {
    if (seen !== this.#rings) return Promise.resolve();
    return new Promise((resolve) => {
      this.#sleepers.push(resolve);
    });
  }

  waitBlocking(): void {
    throw new Error('this thread cannot be blocked: all the others are this one, too');
  }
}

/** Makes them for the two ends of rings: one memory has one doorbell. */
export function promiseDoorbells(): Doorbells {
  const byMemory = new Map<SharedArrayBuffer, PromiseDoorbell>();
  return (memory) => {
    const known = memory === undefined ? undefined : byMemory.get(memory);
    if (known !== undefined) return known;
    const made = new PromiseDoorbell();
    byMemory.set(made.memory, made);
    return made;
  };
}

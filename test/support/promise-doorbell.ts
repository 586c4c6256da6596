import type { Doorbell } from '../../src/ring/doorbell.ts';

/**
 * A doorbell whose threads are all this one. Whoever sleeps on it keeps no event loop alive: a test
 * that waits for a ring that never comes fails at once.
 */
export class PromiseDoorbell implements Doorbell {
  readonly memory = new SharedArrayBuffer(4);
  #rings = 0;
  #sleepers: (() => void)[] = [];

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

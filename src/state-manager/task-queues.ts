/** Runs the tasks of a key one after the other, in the order of the calls. */
export class TaskQueues {
  /** The end of the last task of each key that has one under way; never rejects. */
  readonly #ends = new Map<string, Promise<void>>();

  isBusy(key: string): boolean {
    return this.#ends.has(key);
  }

  async run(key: string, task: () => Promise<void>): Promise<void> {
    const before = this.#ends.get(key);
    const { promise: end, resolve: markEnd } = Promise.withResolvers<void>();
    this.#ends.set(key, end);
    try {
      await before;
      await task();
    } finally {
      if (this.#ends.get(key) === end) this.#ends.delete(key);
      markEnd();
    }
  }

  /** Resolves when all tasks so far have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#ends.values());
  }
}

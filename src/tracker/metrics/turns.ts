import { environmentError } from '../../base/errors.ts';

/** Lets so many things happen at once, and the others in the order in which they came. */
export class Turns {
  readonly #atOnceMax: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(atOnceMax: number, waitingMax: number) {
    this.#atOnceMax = atOnceMax;
    this.#waitingMax = waitingMax;
  }

  /** @throws EngineError QUEUE_FULL when too many wait already. */
  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#atOnceMax) {
      if (this.#waiting.length >= this.#waitingMax) {
        const text = `${this.#waiting.length} questions wait to be asked already`;
        throw environmentError('QUEUE_FULL', text, { retryable: true });
      }
      // Whoever ends hands its own turn on, so the number of those running stays.
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await promise;
    } else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

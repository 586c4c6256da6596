/** What came of a question. */
export type Reply<Answer> = { readonly answer: Answer } | { readonly error: unknown };

/** A promise that has all it needs settles within so many turns of the microtask queue. */
const SOON_TURNS = 4;

/**
 * A question to somebody who may answer with a promise, put so that nobody is kept waiting: acks
 * and commands get their turn while it is pending.
 *
 * I1. One question at a time; its reply is given out once.
 * I2. A reply that comes late wakes whoever waits for it.
 */
export class Inquiry<Answer> {
  readonly #wake: () => void;
  #isPending = false;
  #isAwaited = false;
  #reply: Reply<Answer> | undefined;

  constructor(wake: () => void) {
    this.#wake = wake;
  }

  /** A question has been put, and its reply has not been given out. */
  get isOpen(): boolean {
    return this.#isPending || this.#reply !== undefined;
  }

  /** Puts the question unless one is open. */
  put(ask: () => Answer | Promise<Answer>): void {
    if (this.isOpen) return;
    let answer: Answer | Promise<Answer>;
    try {
      answer = ask();
    } catch (error) {
      this.#reply = { error };
      return;
    }
    if (!(answer instanceof Promise)) {
      this.#reply = { answer };
      return;
    }
    this.#isPending = true;
    answer.then(
      (given) => this.#arrive({ answer: given }),
      (error: unknown) => this.#arrive({ error }),
    );
  }

  /** The reply if it is there; it is forgotten here. */
  take(): Reply<Answer> | undefined {
    const reply = this.#reply;
    this.#reply = undefined;
    return reply;
  }

  /** Gives a promise that needs no time the turns that it takes to settle. */
  async soon(): Promise<void> {
    this.#isAwaited = true;
    for (let turn = 0; turn < SOON_TURNS && this.#reply === undefined; turn += 1) {
      await Promise.resolve();
    }
    this.#isAwaited = false;
  }

  #arrive(reply: Reply<Answer>): void {
    this.#isPending = false;
    this.#reply = reply;
    if (!this.#isAwaited) this.#wake();
  }
}

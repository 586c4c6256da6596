import type { Clock } from '../../base/clock.ts';

/*
  Answers that are given again for a moment.

  R1. While one is under way, and until it is `freshMs` old, everybody with the same key gets it.
      A failure counts as an answer.
  R2. What is kept is bounded by ENTRIES_MAX and WEIGHT_MAX; the oldest go first. What is under way
      is bounded by those who wait for it.
*/

const ENTRIES_MAX = 512;
/** In numbers of eight bytes: 64 MB, or two of the largest answers. */
const WEIGHT_MAX = 8 * 1024 * 1024;

interface Entry<Answer> {
  readonly promise: Promise<Answer>;
  /** Monotonic; undefined while it is under way. */
  settledAtMs: number | undefined;
  weight: number;
}

export class RecentAnswers<Answer> {
  readonly #clock: Clock;
  readonly #freshMs: number;
  readonly #weigh: (answer: Answer) => number;
  /** In the order in which they were asked for. */
  readonly #entries = new Map<string, Entry<Answer>>();
  #weight = 0;

  constructor(clock: Clock, freshMs: number, weigh: (answer: Answer) => number) {
    this.#clock = clock;
    this.#freshMs = freshMs;
    this.#weigh = weigh;
  }

  get(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    this.#forgetOld();
    const known = this.#entries.get(key);
    if (known !== undefined) return known.promise;
    const entry: Entry<Answer> = { promise: ask(), settledAtMs: undefined, weight: 0 };
    this.#entries.set(key, entry);
    entry.promise.then(
      (answer) => this.#settle(entry, this.#weigh(answer)),
      () => this.#settle(entry, 0),
    );
    return entry.promise;
  }

  #settle(entry: Entry<Answer>, weight: number): void {
    entry.settledAtMs = this.#clock.now();
    entry.weight = weight;
    this.#weight += weight;
    this.#forgetOld();
  }

  #forgetOld(): void {
    const oldestMs = this.#clock.now() - this.#freshMs;
    for (const [key, { settledAtMs, weight }] of this.#entries) {
      if (settledAtMs === undefined) continue;
      const isOver = this.#weight > WEIGHT_MAX || this.#entries.size > ENTRIES_MAX;
      if (settledAtMs > oldestMs && !isOver) continue;
      this.#entries.delete(key);
      this.#weight -= weight;
    }
  }
}

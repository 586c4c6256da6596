const NAMED_MAX = 5;

/** Problems of one checker: the first few are named, the rest are counted. */
export class Problems {
  readonly #named: string[] = [];
  #more = 0;

  add(problem: string): void {
    if (this.#named.length < NAMED_MAX) this.#named.push(problem);
    else this.#more += 1;
  }

  list(): readonly string[] {
    return this.#more === 0 ? this.#named : [...this.#named, `and ${this.#more} more like these`];
  }
}

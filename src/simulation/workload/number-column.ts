const FIRST_SLOTS = 256;

/** A list of whole or broken numbers that only grows: eight bytes each and no objects. */
export class NumberColumn {
  #values = new Float64Array(FIRST_SLOTS);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Float64Array(this.#length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  /** NaN for a place that was never filled. */
  at(index: number): number {
    return index < this.#length ? (this.#values[index] ?? Number.NaN) : Number.NaN;
  }

  replace(index: number, value: number): void {
    this.#values[index] = value;
  }
}

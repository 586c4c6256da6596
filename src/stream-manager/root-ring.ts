const INITIAL_FIELDS = 256;

/**
 * The trees of the sets that are under way to one task, in the order of the sets: three int32s for
 * each (root-log.ts). The fields form a ring that doubles when it is full, which the windows of
 * credit bound; so nothing is allocated for a set.
 *
 *     [ . . | set, set, … | . . ]     places count on for ever; fields[place & mask]
 *           ^ start       ^ end
 */
export class RootRing {
  /** Where the fields of the oldest set begin, and behind those of the newest. */
  start = 0;
  end = 0;
  #fields = new Int32Array(INITIAL_FIELDS);

  push(roots: Int32Array): void {
    while (this.end - this.start + roots.length > this.#fields.length) this.#grow();
    const fields = this.#fields;
    const mask = fields.length - 1;
    let place = this.end % fields.length;
    for (let index = 0; index < roots.length; index += 1) {
      fields[place] = roots[index] as number;
      place = (place + 1) & mask;
    }
    this.end += roots.length;
  }

  /** Forgets what is in front of a place. */
  dropTo(place: number): void {
    this.start = place;
  }

  /** Forgets what is in front of a place, and returns it. */
  takeTo(place: number): Int32Array {
    const fields = this.#fields;
    const { start } = this;
    this.start = place;
    return Int32Array.from(
      { length: place - start },
      (_, index) => fields[(start + index) % fields.length] as number,
    );
  }

  #grow(): void {
    const larger = new Int32Array(this.#fields.length * 2);
    const before = this.#fields;
    for (let place = this.start; place < this.end; place += 1) {
      larger[place % larger.length] = before[place % before.length] as number;
    }
    this.#fields = larger;
  }
}

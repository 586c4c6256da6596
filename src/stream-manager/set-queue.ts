const INITIAL_SLOTS = 16;

/**
 * A first-in first-out list of tuple sets that are under way: how many bytes and tuples each has
 * and who is owed for it. Columns in place of objects, since a busy link moves thousands a second.
 *
 *     slots:  [ . . H x x x x T . . ]      H = head, oldest set; T = where the next one goes
 *
 * The slots form a ring that doubles when it is full; it is bounded because sets under way are.
 */
export class SetQueue<Owner> {
  #bytes = new Float64Array(INITIAL_SLOTS);
  #tuples = new Float64Array(INITIAL_SLOTS);
  #owners = emptySlots<Owner>(INITIAL_SLOTS);
  #head = 0;
  #length = 0;
  #totalTuples = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Whose the oldest set is; undefined when there is none. */
  get oldestOwner(): Owner | undefined {
    return this.#length === 0 ? undefined : this.#owners[this.#head];
  }

  /** Of all sets that are not used up. */
  get totalTuples(): number {
    return this.#totalTuples;
  }

  /** The sum of all sets; walks over them, for whoever watches the bounds. */
  get totalBytes(): number {
    let bytes = 0;
    for (let index = 0; index < this.#length; index += 1) {
      bytes += this.#bytes[(this.#head + index) & (this.#bytes.length - 1)] as number;
    }
    return bytes;
  }

  push(owner: Owner, bytes: number, tuples: number): void {
    if (this.#length === this.#bytes.length) this.#grow();
    const slot = (this.#head + this.#length) & (this.#bytes.length - 1);
    this.#bytes[slot] = bytes;
    this.#tuples[slot] = tuples;
    this.#owners[slot] = owner;
    this.#length += 1;
    this.#totalTuples += tuples;
  }

  /**
   * Takes up to `bytes` bytes from the oldest set and returns how many it took; 0 when there is
   * none. A set that is used up leaves the queue, and its tuples with it. `onTaken` hears whose
   * they were.
   */
  take(bytes: number, onTaken: (owner: Owner, bytes: number) => void): number {
    let left = bytes;
    while (left > 0 && this.#length > 0) {
      const head = this.#head;
      const inHead = this.#bytes[head] as number;
      const taken = Math.min(inHead, left);
      onTaken(this.#owners[head] as Owner, taken);
      left -= taken;
      if (taken < inHead) this.#bytes[head] = inHead - taken;
      else this.#removeHead();
    }
    return bytes - left;
  }

  /** Empties the queue and returns how many tuples were in it. */
  clear(onTaken: (owner: Owner, bytes: number) => void): number {
    let tuples = 0;
    while (this.#length > 0) {
      const head = this.#head;
      tuples += this.#tuples[head] as number;
      onTaken(this.#owners[head] as Owner, this.#bytes[head] as number);
      this.#removeHead();
    }
    return tuples;
  }

  #removeHead(): void {
    this.#owners[this.#head] = undefined;
    this.#totalTuples -= this.#tuples[this.#head] as number;
    this.#head = (this.#head + 1) & (this.#bytes.length - 1);
    this.#length -= 1;
  }

  #grow(): void {
    const before = this.#bytes.length;
    const bytes = new Float64Array(before * 2);
    const tuples = new Float64Array(before * 2);
    const owners = emptySlots<Owner>(before * 2);
    for (let index = 0; index < this.#length; index += 1) {
      const slot = (this.#head + index) & (before - 1);
      bytes[index] = this.#bytes[slot] as number;
      tuples[index] = this.#tuples[slot] as number;
      owners[index] = this.#owners[slot];
    }
    this.#bytes = bytes;
    this.#tuples = tuples;
    this.#owners = owners;
    this.#head = 0;
  }
}

function emptySlots<Owner>(count: number): (Owner | undefined)[] {
  return Array.from({ length: count }, () => undefined);
}

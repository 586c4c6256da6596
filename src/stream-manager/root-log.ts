import type { RootList } from '../wire/root-list.ts';
import type { RetainedRoots } from './credits.ts';

/** Task, low half and high half of the key. */
export const ROOT_FIELDS = 3;

const INITIAL_ROOTS = 16;

/** The trees of the tuples in an open batch, 12 bytes each. It serves one batch after the other. */
export class RootLog {
  #fields = new Int32Array(INITIAL_ROOTS * ROOT_FIELDS);
  #used = 0;

  add(roots: RootList): void {
    const used = this.#used;
    const end = used + roots.count * ROOT_FIELDS;
    if (end > this.#fields.length) this.#grow(end);
    const fields = this.#fields;
    for (let index = 0, at = used; at < end; index += 1, at += ROOT_FIELDS) {
      fields[at] = roots.task(index);
      fields[at + 1] = roots.keyLow(index);
      fields[at + 2] = roots.keyHigh(index);
    }
    this.#used = end;
  }

  /** What was added since the last time; it stays as it is until the next `add`. */
  take(): RetainedRoots | undefined {
    if (this.#used === 0) return undefined;
    const taken = this.#fields.subarray(0, this.#used);
    this.#used = 0;
    return taken;
  }

  #grow(fieldsMin: number): void {
    const larger = new Int32Array(Math.max(fieldsMin, this.#fields.length * 2));
    larger.set(this.#fields);
    this.#fields = larger;
  }
}

import type { TrackedTuple } from '../../api/tuple.ts';

/** Three numbers a root. */
const TASK = 0;
const LOW = 1;
const HIGH = 2;
const FIELDS = 3;
/** Up to so many roots, looking at each is faster than an index of them. */
const WALK_MAX = 16;
const SLOTS_PER_ROOT = 2;

/**
 * The trees that a tuple will belong to: those of all its anchors, each once (row S09). Filled
 * again for every tuple, without an object for each.
 *
 *     roots   [ task  key low  key high ] …
 *     slots   index of a root + 1, by hash; 0 = none. Made when there are more than WALK_MAX roots
 */
export class AnchorRoots {
  count = 0;
  #roots = new Int32Array(WALK_MAX * FIELDS);
  #slots = new Int32Array(0);

  task(index: number): number {
    return this.#roots[index * FIELDS + TASK] as number;
  }

  keyLow(index: number): number {
    return this.#roots[index * FIELDS + LOW] as number;
  }

  keyHigh(index: number): number {
    return this.#roots[index * FIELDS + HIGH] as number;
  }

  clear(): void {
    this.count = 0;
  }

  addAll(tuple: TrackedTuple): void {
    for (let index = 0; index < tuple.rootCount; index += 1) {
      this.add(tuple.rootTask(index), tuple.rootLow(index), tuple.rootHigh(index));
    }
  }

  /** Adds a root unless it is there. */
  add(task: number, low: number, high: number): void {
    if (this.count < WALK_MAX) {
      if (!this.#isAmongFew(task, low, high)) this.#append(task, low, high);
      return;
    }
    if (this.count === WALK_MAX) this.#index();
    const slot = this.#slotOf(task, low, high);
    if (this.#slots[slot] !== 0) return;
    this.#append(task, low, high);
    this.#slots[slot] = this.count;
    if (this.count * SLOTS_PER_ROOT > this.#slots.length) this.#index();
  }

  #isAmongFew(task: number, low: number, high: number): boolean {
    for (let index = 0; index < this.count; index += 1) {
      if (this.#isAt(index, task, low, high)) return true;
    }
    return false;
  }

  #isAt(index: number, task: number, low: number, high: number): boolean {
    const at = index * FIELDS;
    const roots = this.#roots;
    return roots[at + LOW] === low && roots[at + HIGH] === high && roots[at + TASK] === task;
  }

  #append(task: number, low: number, high: number): void {
    const at = this.count * FIELDS;
    if (at === this.#roots.length) {
      const larger = new Int32Array(at * 2);
      larger.set(this.#roots);
      this.#roots = larger;
    }
    this.#roots[at + TASK] = task;
    this.#roots[at + LOW] = low;
    this.#roots[at + HIGH] = high;
    this.count += 1;
  }

  /** Fills the slots anew, twice as many as are needed now. */
  #index(): void {
    const slots = this.count * SLOTS_PER_ROOT * 2;
    if (this.#slots.length < slots) this.#slots = new Int32Array(powerOfTwo(slots));
    else this.#slots.fill(0);
    for (let index = 0; index < this.count; index += 1) {
      const slot = this.#slotOf(this.task(index), this.keyLow(index), this.keyHigh(index));
      this.#slots[slot] = index + 1;
    }
  }

  /** The root's slot, or the empty one where it would be. */
  #slotOf(task: number, low: number, high: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = (Math.imul(low ^ Math.imul(high ^ task, 0x85ebca6b), 0x9e3779b1) >>> 16) & mask;
    for (;;) {
      const found = slots[slot] as number;
      if (found === 0 || this.#isAt(found - 1, task, low, high)) return slot;
      slot = (slot + 1) & mask;
    }
  }
}

function powerOfTwo(least: number): number {
  return 2 ** Math.ceil(Math.log2(least));
}

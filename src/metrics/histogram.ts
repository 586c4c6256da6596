import { assert } from '../base/assert.ts';

/*
  How often each size of a number was seen, such as a latency in nanoseconds, on a logarithmic
  scale.

    bucket 0          below 1, and what is no number
    bucket 1 + 32 e + m     [2^e (1 + m/32), 2^e (1 + (m+1)/32))      0 ≤ e < 48, 0 ≤ m < 32
    the last one      and all above, 2^48: three days in nanoseconds

  The bucket of a number stands in the bits of its double: exponent and the first five bits of the
  fraction lie together. So nothing is computed, and no number is off by more than 1 part in 32;
  read back as the middle of its bucket, by no more than 1 in 64.

  B1. Histograms of the same numbers add up: the sum of two is the histogram of all of their
      numbers. So they may be kept by thread, by interval or by task.
  B2. Counts are whole numbers, exact up to 2^53.

  A hot path records into it: bench/histogram.ts.
*/

const FRACTION_BITS = 5;
const PER_POWER = 1 << FRACTION_BITS;
const POWERS = 48;
const BUCKETS = 1 + POWERS * PER_POWER;
const LAST = BUCKETS - 1;

/** Fraction bits in the upper half of a double, without those that choose a bucket. */
const SHIFT = 20 - FRACTION_BITS;
/** The upper half of the double 1, shifted: the first bucket above it has the index 1. */
const ONE = 0x3ff00000 >>> SHIFT;

/** The bits of a number: one conversion buffer for all, as nothing keeps it. */
const double = new Float64Array(1);
const halves = new Uint32Array(double.buffer);
/** Which of the two halves is the upper one: processors differ. */
const UPPER = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 1 : 0;

export class Histogram {
  readonly #counts = new Float64Array(BUCKETS);
  #count = 0;
  #sum = 0;
  #max = 0;

  /** How many numbers were recorded. */
  get count(): number {
    return this.#count;
  }

  get sum(): number {
    return this.#sum;
  }

  /** 0 while there is none. */
  get max(): number {
    return this.#max;
  }

  /** What is below 0 or not finite counts as 0. `times`: it stands for so many of its size. */
  record(value: number, times = 1): void {
    const known = value > 0 && value <= Number.MAX_VALUE ? value : 0;
    double[0] = known;
    const place = ((halves[UPPER] as number) >>> SHIFT) - ONE + 1;
    const index = place < 0 ? 0 : place > LAST ? LAST : place;
    (this.#counts[index] as number) += times;
    this.#count += times;
    this.#sum += known * times;
    if (known > this.#max) this.#max = known;
  }

  /** B1 */
  add(other: Histogram): void {
    for (let index = 0; index < BUCKETS; index += 1) {
      const more = other.#counts[index] ?? 0;
      if (more > 0) this.#counts[index] = (this.#counts[index] ?? 0) + more;
    }
    this.#count += other.#count;
    this.#sum += other.#sum;
    this.#max = Math.max(this.#max, other.#max);
  }

  clear(): void {
    this.#counts.fill(0);
    this.#count = 0;
    this.#sum = 0;
    this.#max = 0;
  }

  /** The number that `share` of all (0.99) do not exceed; NaN without any. */
  percentile(share: number): number {
    assert(share >= 0 && share <= 1, 'a share is between 0 and 1');
    if (this.#count === 0) return Number.NaN;
    const wanted = Math.max(1, Math.ceil(share * this.#count));
    let seen = 0;
    for (let index = 0; index < BUCKETS; index += 1) {
      seen += this.#counts[index] ?? 0;
      if (seen >= wanted) return Math.min(this.#max, middleOf(index));
    }
    return this.#max;
  }

  /** How many of the numbers are in buckets that end at `bound` or before it. */
  countUpTo(bound: number): number {
    let seen = 0;
    for (let index = 0; index < LAST && edgeOf(index + 1) <= bound; index += 1) {
      seen += this.#counts[index] ?? 0;
    }
    return seen;
  }

  /** Calls for each bucket that has any, in order. */
  forEach(visit: (index: number, count: number) => void): void {
    for (let index = 0; index < BUCKETS; index += 1) {
      const count = this.#counts[index] ?? 0;
      if (count > 0) visit(index, count);
    }
  }

  /** Makes one from what `forEach` told, with its sum and largest number; undefined: impossible. */
  static of(
    buckets: Iterable<readonly [index: number, count: number]>,
    { sum, max }: { readonly sum: number; readonly max: number },
  ): Histogram | undefined {
    const made = new Histogram();
    for (const [index, count] of buckets) {
      if (index < 0 || index >= BUCKETS || !Number.isSafeInteger(count)) return undefined;
      made.#counts[index] = (made.#counts[index] ?? 0) + count;
      made.#count += count;
    }
    const isSound = Number.isFinite(sum) && Number.isFinite(max) && sum >= 0 && max >= 0;
    if (!isSound) return undefined;
    made.#sum = sum;
    made.#max = max;
    return made;
  }
}

/** Where a bucket begins. */
function edgeOf(index: number): number {
  if (index === 0) return 0;
  const power = (index - 1) >>> FRACTION_BITS;
  const part = (index - 1) & (PER_POWER - 1);
  return 2 ** power * (1 + part / PER_POWER);
}

function middleOf(index: number): number {
  return index === 0 ? 0 : (edgeOf(index) + edgeOf(index + 1)) / 2;
}

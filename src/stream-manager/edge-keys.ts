import type { Random } from '../base/random.ts';

/**
 * The keys of copies of tuples: random 64-bit numbers that are not zero, in two int32 halves.
 *
 * The generator is Chris Doty-Humphrey's sfc32 (PractRand; public domain): 128 bits of state, of
 * which 32 count, so that no state repeats before 2^32 numbers. Its additions matter: ledgers add
 * keys up by XOR, and of a generator that is itself made of XORs and shifts some sets of numbers
 * cancel each other by construction.
 */
export class EdgeKeys {
  low = 0;
  high = 0;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(random: Random) {
    this.#a = random.uint32() | 0;
    this.#b = random.uint32() | 0;
    this.#c = random.uint32() | 0;
    // As its author does it: a seed with few ones shows in the first numbers.
    for (let index = 0; index < 12; index += 1) this.#next();
  }

  /** Moves on to the next key, which `low` and `high` hold from then on. */
  next(): void {
    do {
      this.low = this.#next();
      this.high = this.#next();
    } while ((this.low | this.high) === 0);
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum;
  }
}

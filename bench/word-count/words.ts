/* The words of the job that every engine in bench/ runs; all languages generate the same. */

const A = 1664525;
const C = 1013904223;
const SEED = 42;

/** A 32-bit linear congruential generator. */
export class WordRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (Math.imul(this.#state, A) + C) >>> 0;
    return this.#state;
  }

  below(limit: number): number {
    return Math.floor((this.next() * limit) / 0x1_0000_0000);
  }
}

/** Distinct lower-case words of 4 to 12 letters. */
export function wordList(count: number): string[] {
  const random = new WordRandom(SEED);
  const words = new Set<string>();
  while (words.size < count) {
    const length = 4 + ((random.next() >>> 16) % 9);
    let word = '';
    for (let n = 0; n < length; n += 1) {
      word += String.fromCharCode(97 + ((random.next() >>> 16) % 26));
    }
    words.add(word);
  }
  // One after the other in memory: strings that were made among others lie scattered over three
  // times the room, and then it is that which the job measures.
  return [...words].join(' ').split(' ');
}

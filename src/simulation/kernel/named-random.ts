import { createHash } from 'node:crypto';
import { createSeededRandom, type Random } from '../../base/random.ts';

/**
 * Repeatable random numbers by name: each name has a sequence of its own, which only the seed and
 * the name decide. A new consumer therefore changes nothing for the others, and a seed that failed
 * still fails after unrelated code has learned to draw.
 */
export class NamedRandom {
  readonly #seed: number;
  readonly #byName = new Map<string, Random>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** The same object each time: whoever asks again goes on where the last one stopped. */
  of(name: string): Random {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const digest = createHash('sha256').update(`${this.#seed}\n${name}`).digest();
    const random = createSeededRandom(digest.readUInt32LE(0));
    this.#byName.set(name, random);
    return random;
  }
}

/** True in one of `among` cases. */
export function isOneOf(random: Random, among: number): boolean {
  return random.below(among) === 0;
}

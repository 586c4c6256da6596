import { assertDefined } from '../../base/assert.ts';
import type { Random } from '../../base/random.ts';

/** Draws from a source of randomness in the words of a generator. */
export class Draw {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + this.#random.below(max - min + 1);
  }

  /** As `between`, but as often between 10 and 100 as between 100 and 1,000. */
  betweenScales(min: number, max: number): number {
    const part = this.#random.uint32() / 2 ** 32;
    return Math.min(max, Math.floor(min * ((max + 1) / min) ** part));
  }

  /** True `percent` times out of a hundred. */
  chance(percent: number): boolean {
    return this.#random.below(100) < percent;
  }

  oneOf<const Value>(values: readonly Value[]): Value {
    const drawn = values[this.#random.below(values.length)];
    return assertDefined(drawn, 'there is something to draw from');
  }

  /** Some of the values, at least one, each at most once, in their order. */
  some<Value>(values: readonly Value[], countMax: number): readonly Value[] {
    const left = [...values.keys()];
    const count = this.between(1, Math.min(countMax, values.length));
    const drawn = Array.from({ length: count }, () => {
      const [index] = left.splice(this.#random.below(left.length), 1);
      return assertDefined(index, 'no more are drawn than there are');
    });
    return drawn.toSorted((a, b) => a - b).map((index) => values[index] as Value);
  }
}

import * as fc from 'fast-check';

/** Strings without half surrogate pairs, of all sizes of characters. */
const texts = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

const numbers = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(-0, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53, 1e300, 5e-324),
);

const typedArrays = fc.oneof(
  fc.int8Array(),
  fc.uint8Array(),
  fc.uint8ClampedArray(),
  fc.int16Array(),
  fc.uint16Array(),
  fc.int32Array(),
  fc.uint32Array(),
  fc.float32Array(),
  fc.float64Array(),
  fc.bigInt64Array(),
  fc.bigUint64Array(),
);

/** Values that are no containers. */
export const scalars = fc.oneof(
  texts,
  numbers,
  fc.boolean(),
  fc.constant(null),
  fc.constant(undefined),
  fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 65n }),
  fc.date({ noInvalidDate: false }),
  typedArrays,
);

const objectKeys = texts.filter((key) => key !== '__proto__');

/** Everything that a tuple may hold. */
export const values: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalars,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(objectKeys, tie('value'), { maxKeys: 5, noNullPrototype: true }),
    fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 4 }).map((all) => new Map(all)),
    fc.array(tie('value'), { maxLength: 4 }).map((all) => new Set(all)),
  ),
})).value;

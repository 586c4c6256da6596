/** Keys of all kinds, ten thousand of them (case S19). */
export function* groupingKeys(): Generator {
  yield* ['', 'ü', '日本', '👍', 'a\0b', -0, 0, Number.NaN, Number.POSITIVE_INFINITY, true, null];
  yield* [-1, -(2 ** 31), 2 ** 31, 2 ** 32 + 1, -(2 ** 53) + 1, 1.5, -1e300];
  yield* [0n, -1n, 2n ** 63n, -(2n ** 64n), 2n ** 100n];
  yield* [[1, ['a', [null]]], [], [[]], new Uint8Array([1, 2, 3])];
  for (let index = 0; index < 3_000; index += 1) {
    yield `key ${index}`;
    yield index * -7_919;
    yield BigInt(index) ** 3n;
  }
  for (let index = 0; index < 1_000; index += 1) yield [index, `part ${index % 7}`];
}

/*
  The keys of all workloads, by number: keys with different numbers are different, and each of them
  has one number, so that the ledger can hold numbers in place of values. Every kind of key is among
  the first ones.
*/

type Key = string | number | boolean | bigint | null | Uint8Array | readonly Key[];

const MANY_BYTES = 300;

/** Made anew at each call: nobody may rest on getting the same object. */
const MAKERS: readonly ((isOdd: boolean) => Key)[] = [
  () => 'a',
  () => 1,
  () => 1n,
  () => '1',
  () => true,
  () => null,
  (isOdd) => (isOdd ? -0 : 0), // One key.
  () => Uint8Array.of(1, 2, 3),
  () => [1, 'a', null],
  () => '',
  () => false,
  () => Number.NaN,
  () => -1.5,
  () => 2 ** 40,
  () => -(2n ** 70n),
  () => new Uint8Array(0),
  () => [],
  () => [[1n], Uint8Array.of(9)],
  () => 'größer als 32 Zeichen, und nicht nur ASCII: 鍵',
  () => new Uint8Array(MANY_BYTES).fill(7),
];

/** The value of a key; `turn` chooses among equal values where there are several. */
export function keyValue(key: number, turn: number): Key {
  const make = MAKERS[key];
  return make === undefined ? `key-${key}` : make(turn % 2 === 1);
}

/** Whether a value that came out of a tuple is this key. */
export function isKey(value: unknown, key: number): boolean {
  return isSame(value, keyValue(key, 0));
}

function isSame(left: unknown, right: unknown): boolean {
  if (Object.is(left, right) || left === right) return true; // -0 is 0, NaN is NaN.
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    return Buffer.compare(left, right) === 0;
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((value, at) => isSame(value, right[at]));
  }
  return false;
}

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createSeededRandom, type Random } from '../../../src/base/random.ts';
import { EdgeKeys } from '../../../src/stream-manager/edge-keys.ts';

function take(keys: EdgeKeys, count: number): bigint[] {
  return Array.from({ length: count }, () => {
    keys.next();
    assert.equal(keys.low, keys.low | 0);
    assert.equal(keys.high, keys.high | 0);
    return (BigInt(keys.high) << 32n) | BigInt(keys.low >>> 0);
  });
}

suite('EdgeKeys', () => {
  test('no key is zero, and none comes twice', () => {
    const all = take(new EdgeKeys(createSeededRandom(1)), 200_000);
    assert.equal(new Set(all).size, all.length);
    assert.ok(!all.includes(0n));
  });

  test('every bit is set in half of them', () => {
    const all = take(new EdgeKeys(createSeededRandom(2)), 20_000);
    for (let bit = 0n; bit < 64n; bit += 1n) {
      const ones = all.filter((key) => ((key >> bit) & 1n) === 1n).length;
      assert.ok(ones > 9_500 && ones < 10_500, `bit ${bit}: ${ones}`);
    }
  });

  test('other seeds, other keys, even when all of the seed is zero', () => {
    const zero: Random = {
      uint32: () => 0,
      below: () => 0,
      bytes: (count) => new Uint8Array(count),
    };
    const one = take(new EdgeKeys(createSeededRandom(3)), 1_000);
    const other = take(new EdgeKeys(createSeededRandom(4)), 1_000);
    const none = take(new EdgeKeys(zero), 1_000);
    assert.equal(new Set([...one, ...other, ...none]).size, 3_000);
  });

  test('no small set of them cancels out', () => {
    const all = take(new EdgeKeys(createSeededRandom(5)), 600);
    // The XORs of any two: two of them being equal would be four keys that cancel.
    const pairs = new Set<bigint>();
    for (const [index, key] of all.entries()) {
      for (const other of all.slice(index + 1)) pairs.add(key ^ other);
    }
    assert.equal(pairs.size, (600 * 599) / 2);
  });
});

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { createSeededRandom } from '../../../src/base/random.ts';
import { TreeTable } from '../../../src/stream-manager/tree-table.ts';

/** A tree as the model has it: the XOR as one big number, and the stamp. */
interface Tree {
  readonly xor: bigint;
  readonly stamp: number;
}

const low = (value: bigint): number => Number(BigInt.asIntN(32, value));
const high = (value: bigint): number => Number(BigInt.asIntN(32, value >> 32n));
const WHOLE_RANGE = 2 ** 32;

/** The table and a Map of big numbers, which must agree after every step. */
class Checked {
  readonly table = new TreeTable();
  readonly model = new Map<bigint, Tree>();

  create(key: bigint, xor: bigint, stamp: number): void {
    const before = this.model.get(key);
    const wasLive = this.table.create(low(key), high(key), low(xor), high(xor), stamp);
    assert.equal(wasLive, before !== undefined);
    if (before !== undefined) assert.equal(this.table.removedStamp, before.stamp);
    this.model.set(key, { xor, stamp });
    assert.equal(this.table.count, this.model.size);
  }

  settle(key: bigint, xor: bigint): void {
    const tree = this.model.get(key);
    const result = this.table.settle(low(key), high(key), low(xor), high(xor));
    if (tree === undefined) assert.equal(result, -1);
    else {
      const left = tree.xor ^ xor;
      assert.equal(result, left === 0n ? 1 : 0);
      if (left === 0n) this.model.delete(key);
      else this.model.set(key, { ...tree, xor: left });
      if (left === 0n) assert.equal(this.table.removedStamp, tree.stamp);
    }
    assert.equal(this.table.count, this.model.size);
  }

  remove(key: bigint): void {
    const tree = this.model.get(key);
    assert.equal(this.table.remove(low(key), high(key)), tree !== undefined);
    if (tree !== undefined) assert.equal(this.table.removedStamp, tree.stamp);
    this.model.delete(key);
    assert.equal(this.table.count, this.model.size);
  }

  sweep(through: number, between: () => void = () => undefined): void {
    for (let from = 0; from < WHOLE_RANGE; ) {
      from = this.table.sweep(from, through, (keyLow, keyHigh, stamp) => {
        const key = (BigInt(keyHigh) << 32n) | BigInt(keyLow >>> 0);
        assert.equal(this.model.get(key)?.stamp, stamp);
        assert.ok(stamp <= through);
        this.model.delete(key);
      });
      assert.equal(this.table.count, this.model.size);
      between();
    }
  }

  /** Every tree is found, with its value. */
  finish(): void {
    for (const [key, { xor }] of this.model) {
      assert.equal(this.table.settle(low(key), high(key), low(xor), high(xor)), 1, String(key));
    }
    assert.equal(this.table.count, 0);
  }
}

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const key = fc.oneof(fc.bigInt({ min: 0n, max: 40n }), int64);
const step = fc.oneof(
  fc.record({
    kind: fc.constant('create'),
    key,
    xor: int64,
    stamp: fc.integer({ min: 1, max: 9 }),
  }),
  fc.record({ kind: fc.constant('settle'), key, xor: int64, stamp: fc.constant(0) }),
  fc.record({ kind: fc.constant('remove'), key, xor: int64, stamp: fc.constant(0) }),
  fc.record({ kind: fc.constant('sweep'), key, xor: int64, stamp: fc.integer({ min: 1, max: 9 }) }),
);

/** Keys for which numbers with 53 bits, or one half alone, are not enough (S03). */
const ODD_KEYS: Record<string, (index: number) => bigint> = {
  'near 2^63': (index) => BigInt.asIntN(64, 2n ** 63n - 500n + BigInt(index)),
  'near 2^53': (index) => 2n ** 53n - 500n + BigInt(index),
  'equal low halves': (index) => (BigInt(index) << 32n) | 0x1234_5678n,
  'equal high halves': (index) => (0x1234_5678n << 32n) | BigInt(index),
  'both halves equal': (index) => (BigInt(index) << 32n) | BigInt(index),
  'steps of 2^12': (index) => BigInt(index) << 12n,
  negative: (index) => -BigInt(index),
};

suite('TreeTable', () => {
  test('agrees with a Map of big numbers', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const checked = new Checked();
        for (const one of steps) {
          if (one.kind === 'create') checked.create(one.key, one.xor || 1n, one.stamp);
          else if (one.kind === 'settle') checked.settle(one.key, one.xor);
          else if (one.kind === 'remove') checked.remove(one.key);
          else checked.sweep(one.stamp);
        }
        checked.finish();
      }),
    );
  });

  test('a tree is open while either half of its value is not zero', () => {
    const table = new TreeTable();
    table.create(1, 2, 3, 4, 1);
    assert.equal(table.settle(1, 2, 3, 5), 0);
    assert.equal(table.settle(1, 2, 1, 1), 0);
    assert.equal(table.settle(1, 2, 1, 0), 1);
  });

  for (const [name, keyOf] of Object.entries(ODD_KEYS)) {
    test(`S03 keeps keys apart: ${name}`, () => {
      const checked = new Checked();
      for (let index = 0; index < 20_000; index += 1) {
        checked.create(keyOf(index), BigInt(index + 1), 1);
      }
      for (let index = 0; index < 20_000; index += 2) checked.remove(keyOf(index));
      checked.finish();
    });
  }

  test('S03 holds a million trees, and every one is found', () => {
    const table = new TreeTable();
    const random = createSeededRandom(7);
    const count = 1_000_000;
    const keys = Int32Array.from({ length: count * 2 }, () => random.uint32());
    for (let at = 0; at < keys.length; at += 2) {
      table.create(keys[at] as number, keys[at + 1] as number, at, -1, 1);
    }
    assert.equal(table.count, count);
    assert.ok(table.byteLength / count < 55, `${table.byteLength / count} bytes a tree`);
    let complete = 0;
    for (let at = 0; at < keys.length; at += 2) {
      const result = table.settle(keys[at] as number, keys[at + 1] as number, at, -1);
      complete += result === 1 ? 1 : 0;
    }
    assert.equal(complete, count);
    table.shrink(1);
    assert.ok(table.byteLength < 2_000, `gives memory back: ${table.byteLength}`);
  });

  test('sweeps while trees come and go, and misses none', () => {
    const random = createSeededRandom(11);
    const checked = new Checked();
    const keys: bigint[] = [];
    const create = (stamp: number): void => {
      const next = (BigInt(random.uint32()) << 20n) ^ BigInt(random.uint32());
      keys.push(next);
      checked.create(next, BigInt(random.uint32() + 1), stamp);
    };
    for (let index = 0; index < 60_000; index += 1) create(1 + (index % 3));
    checked.sweep(2, () => {
      for (let index = 0; index < 3_000; index += 1) create(4);
      for (let index = 0; index < 2_000; index += 1) {
        checked.remove(keys[random.below(keys.length)] as bigint);
      }
    });
    assert.ok([...checked.model.values()].every(({ stamp }) => stamp > 2));
    checked.sweep(9);
    assert.equal(checked.table.count, 0);
  });

  test('gives memory back step by step, and keeps every tree', () => {
    const checked = new Checked();
    for (let index = 1n; index <= 100_000n; index += 1n) checked.create(index, index, 1);
    for (let index = 1n; index <= 98_000n; index += 1n) checked.remove(index);
    const { table } = checked;
    const before = table.byteLength;
    table.shrink(3);
    assert.equal(table.byteLength, before - 3 * 4_096 * 20);
    table.shrink(1_000);
    assert.ok(table.byteLength <= 8 * 4_096 * 20, `${table.byteLength} bytes are left`);
    checked.finish();
  });

  test('forgets everything at once', () => {
    const checked = new Checked();
    for (let index = 1n; index < 10_000n; index += 1n) checked.create(index, index, 1);
    checked.table.clear();
    assert.equal(checked.table.count, 0);
    assert.equal(checked.table.settle(1, 0, 1, 0), -1);
    assert.ok(checked.table.byteLength < 2_000);
  });
});

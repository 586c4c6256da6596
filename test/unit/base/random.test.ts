import assert from 'node:assert/strict';
import test from 'node:test';
import { createSeededRandom, createSystemRandom, randomHex } from '../../../src/base/random.ts';

const DRAWS = 10_000;

test('the system does not repeat itself after its pool of 1024 numbers', () => {
  const random = createSystemRandom();
  const draw = (): number[] => Array.from({ length: 1024 }, () => random.uint32());
  assert.notDeepEqual(draw(), draw());
});

test('a seed repeats its sequence, another seed has another one', () => {
  const draw = (seed: number): number[] => {
    const random = createSeededRandom(seed);
    return Array.from({ length: 20 }, () => random.uint32());
  };
  assert.deepEqual(draw(1), draw(1));
  assert.notDeepEqual(draw(1), draw(2));
});

for (const [name, create] of [
  ['system', createSystemRandom],
  ['seeded', () => createSeededRandom(42)],
] as const) {
  test(`${name}: below stays below its limit and reaches every value evenly`, () => {
    const random = create();
    const counts = Array.from({ length: 10 }, () => 0);
    for (let draw = 0; draw < DRAWS; draw += 1) {
      const value = random.below(counts.length);
      counts[value] = (counts[value] ?? Number.NaN) + 1;
    }
    assert.equal(counts.length, 10);
    // 1000 expected of each; 6 standard deviations are 180.
    for (const count of counts) assert.ok(Math.abs(count - 1000) < 180, counts.join());
  });

  test(`${name}: uint32 is whole, in range, and uses its high and low bits`, () => {
    const random = create();
    let ones = 0;
    let highs = 0;
    for (let draw = 0; draw < DRAWS; draw += 1) {
      const value = random.uint32();
      assert.ok(Number.isInteger(value) && value >= 0 && value <= 0xffff_ffff);
      ones += value & 1;
      highs += value >>> 31;
    }
    assert.ok(Math.abs(ones - DRAWS / 2) < 300);
    assert.ok(Math.abs(highs - DRAWS / 2) < 300);
  });

  test(`${name}: bytes and hexadecimal text have the length asked for`, () => {
    const random = create();
    assert.equal(random.bytes(0).length, 0);
    assert.equal(random.bytes(33).length, 33);
    assert.match(randomHex(random, 16), /^[0-9a-f]{32}$/);
  });
}

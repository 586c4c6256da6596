import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { Draw } from '../../../../src/simulation/workload/draw.ts';

const TIMES = Array.from({ length: 2000 }, (_, time) => time);

test('draws stay within their limits and reach them', () => {
  const draw = new Draw(createSeededRandom(1));
  const between = TIMES.map(() => draw.between(3, 6));
  assert.deepEqual(
    [...new Set(between)].toSorted((a, b) => a - b),
    [3, 4, 5, 6],
  );
  const scales = TIMES.map(() => draw.betweenScales(10, 1000));
  assert.ok(scales.every((value) => value >= 10 && value <= 1000 && Number.isInteger(value)));
  const small = scales.filter((value) => value < 100).length;
  assert.ok(small > 900 && small < 1100, `${small} of 2000 are below 100`);
  assert.equal(draw.betweenScales(5, 5), 5);
  assert.ok(TIMES.every(() => draw.oneOf([7]) === 7));
});

test('some values are drawn once each, in their order', () => {
  const draw = new Draw(createSeededRandom(2));
  for (const _ of TIMES) {
    const drawn = draw.some(['a', 'b', 'c', 'd'], 3);
    assert.ok(drawn.length >= 1 && drawn.length <= 3);
    assert.deepEqual(drawn, [...new Set(drawn)].toSorted());
  }
});

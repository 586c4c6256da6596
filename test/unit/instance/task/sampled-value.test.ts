import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampledValue } from '../../../../src/instance/task/sampled-value.ts';

const cases: readonly (readonly [string, unknown, unknown])[] = [
  ['text', 'word', 'word'],
  ['a long text', 'x'.repeat(2_000), `${'x'.repeat(1_024)}…`],
  ['a number', 1.5, 1.5],
  ['no number', Number.NaN, 'NaN'],
  ['infinity', Number.NEGATIVE_INFINITY, '-Infinity'],
  ['a bigint', 12n, '12'],
  ['nothing', undefined, null],
  ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
  ['bytes', new Uint8Array([1, 255]), { bytes: 2, hex: '01ff' }],
  ['many bytes', new Uint8Array(100), { bytes: 100, hex: `${'00'.repeat(64)}…` }],
  ['a map', new Map([['a', 1n]]), { map: [['a', '1']] }],
  ['a set', new Set([1, 'a']), { set: [1, 'a'] }],
  ['an object', { a: [true, { b: null }] }, { a: [true, { b: null }] }],
  ['a function', () => {}, 'function'],
];

for (const [name, value, expected] of cases) {
  test(`${name} is shown as JSON can`, () => {
    const shown = sampledValue(value);
    assert.deepEqual(shown, expected);
    assert.deepEqual(JSON.parse(JSON.stringify(shown)), expected);
  });
}

test('a look has a limit, whatever the value is', () => {
  const wide = sampledValue(Array.from({ length: 10_000 }, (_, index) => index)) as unknown[];
  assert.deepEqual([wide.length, wide.at(-1)], [501, '…']);
  const cycle: { self?: object } = {};
  cycle.self = cycle;
  assert.ok(JSON.stringify(sampledValue(cycle)).includes('…'));
  const tree = (depth: number): unknown[] =>
    depth === 0 ? [] : Array.from({ length: 10 }, () => tree(depth - 1));
  assert.ok(JSON.stringify(sampledValue(tree(5))).length < 10_000);
  const hostile = {
    get trap(): never {
      throw new Error('a trap');
    },
  };
  assert.equal(sampledValue(hostile), '(cannot be shown: a trap)');
});

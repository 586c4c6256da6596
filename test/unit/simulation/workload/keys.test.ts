import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isKey, keyValue } from '../../../../src/simulation/workload/keys.ts';
import { hashGroupingKey, NOT_A_KEY } from '../../../../src/wire/grouping-key.ts';
import { valueBytes } from '../../../support/tuple-sets.ts';

const KEYS = Array.from({ length: 40 }, (_, key) => key);

function hashOf(value: unknown): number {
  const bytes = valueBytes(value);
  return hashGroupingKey(bytes, 0, bytes.length);
}

test('every value is a key of the engine, and keys with different numbers are different', () => {
  const hashes = new Set(KEYS.map((key) => hashOf(keyValue(key, 0))));
  assert.equal(hashes.has(NOT_A_KEY), false);
  assert.equal(hashes.size, KEYS.length);
  for (const one of KEYS) {
    for (const other of KEYS) assert.equal(isKey(keyValue(one, 0), other), one === other);
  }
});

test('equal values count as one key: 0 and -0', () => {
  const zero = KEYS.find((key) => Object.is(keyValue(key, 1), -0)) ?? assert.fail();
  assert.ok(Object.is(keyValue(zero, 0), 0));
  assert.equal(isKey(-0, zero), true);
  assert.equal(hashOf(-0), hashOf(0));
});

test('every kind of key is among the first ones', () => {
  const kinds = KEYS.map((key) => {
    const value = keyValue(key, 0);
    if (value === null || value instanceof Uint8Array) return String(value && 'bytes');
    return Array.isArray(value) ? 'array' : typeof value;
  });
  assert.deepEqual([...new Set(kinds)].toSorted(), [
    'array',
    'bigint',
    'boolean',
    'bytes',
    'null',
    'number',
    'string',
  ]);
});

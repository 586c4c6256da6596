import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoTime, parseIsoTime } from '../../../src/base/iso-time.ts';

test('a moment is written in UTC with milliseconds', () => {
  assert.equal(isoTime(1_700_000_000_001), '2023-11-14T22:13:20.001Z');
});

test('a moment is read again, and what is none is refused', () => {
  assert.equal(parseIsoTime('2023-11-14T22:13:20.001Z'), 1_700_000_000_001);
  assert.equal(parseIsoTime('yesterday'), undefined);
});

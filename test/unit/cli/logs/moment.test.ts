import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMoment, wallMsOf } from '../../../../src/cli/logs/moment.ts';

const NOW_MS = Date.parse('2026-01-31T10:00:00Z');

test('a moment is by the clock or so long ago', () => {
  for (const [text, expected] of [
    ['90s', '2026-01-31T09:58:30.000Z'],
    ['10m', '2026-01-31T09:50:00.000Z'],
    ['2h', '2026-01-31T08:00:00.000Z'],
    ['1d', '2026-01-30T10:00:00.000Z'],
    ['2026-01-31T23:59:59.999Z', '2026-01-31T23:59:59.999Z'],
    ['2026-01-31T12:00:00+02:00', '2026-01-31T10:00:00.000Z'],
  ] as const) {
    const moment = parseMoment(text);
    assert.ok(moment !== undefined, text);
    assert.equal(new Date(wallMsOf(moment, NOW_MS)).toISOString(), expected);
  }
});

test('anything else is none', () => {
  for (const text of ['', '10', '10 m', 'yesterday', '-5m', '10w', '2026-13-01']) {
    assert.equal(parseMoment(text), undefined, text);
  }
});

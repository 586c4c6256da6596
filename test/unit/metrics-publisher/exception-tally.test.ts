import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExceptionTally } from '../../../src/metrics-publisher/exception-tally.ts';

test('the same trace again raises its count', () => {
  const tally = new ExceptionTally();
  tally.add('A: x', 1);
  tally.add('B: y', 2);
  tally.add('A: x', 3);
  assert.deepEqual(tally.take(), {
    exceptions: [
      { stackTrace: 'A: x', firstAtMs: 1, lastAtMs: 3, count: 2 },
      { stackTrace: 'B: y', firstAtMs: 2, lastAtMs: 2, count: 1 },
    ],
    dropped: 0,
  });
  assert.deepEqual(tally.take(), { exceptions: [], dropped: 0 });
});

test('many different traces are bounded, and what has no place is counted', () => {
  const tally = new ExceptionTally();
  for (let number = 0; number < 100; number += 1) tally.add(`A: ${number}`, number);
  tally.add('A: 0', 100);
  const { exceptions, dropped } = tally.take();
  assert.equal(exceptions.length, 64);
  assert.equal(exceptions[0]?.count, 2);
  assert.equal(dropped, 36);
  assert.equal(tally.take().dropped, 0);
});

test('a long trace is cut', () => {
  const tally = new ExceptionTally();
  tally.add('x'.repeat(10_000), 1);
  assert.equal(tally.take().exceptions[0]?.stackTrace.length, 4_096);
});

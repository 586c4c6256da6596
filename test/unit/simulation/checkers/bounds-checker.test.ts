import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BoundsChecker } from '../../../../src/simulation/checkers/bounds-checker.ts';
import type { MeasureEvent } from '../../../../src/simulation/checkers/checker.ts';

function measured(process: string, atMs: number, bytes: number): MeasureEvent {
  return { kind: 'measures', atMs, process, measures: [{ what: 'a ring', bytes, limitBytes: 10 }] };
}

test('up to its limit anything may be full', () => {
  const checker = new BoundsChecker();
  checker.observe(measured('stmgr-1', 1, 0));
  checker.observe(measured('stmgr-1', 2, 10));
  assert.deepEqual(checker.finish(), []);
  assert.equal(checker.measures, 2);
});

test('of what was too full the worst sight is told, once', () => {
  const checker = new BoundsChecker();
  checker.observe(measured('stmgr-1', 1, 11));
  checker.observe(measured('stmgr-1', 2, 13));
  checker.observe(measured('stmgr-1', 3, 12));
  checker.observe(measured('stmgr-2', 4, 11));
  assert.deepEqual(checker.finish(), [
    'stmgr-1: a ring held 13 bytes at 2 ms, its limit is 10',
    'stmgr-2: a ring held 11 bytes at 4 ms, its limit is 10',
  ]);
});

test('what begins anew with each connection may be there several times', () => {
  const checker = new BoundsChecker();
  const bytes = { kind: 'bytes', atMs: 1, from: 'stmgr-1', to: 'stmgr-2' } as const;
  const end = (connection: number): void => {
    checker.observe({ ...bytes, connection, bytes: new Uint8Array(1) });
    checker.observe({ kind: 'connection-end', atMs: 1, connection });
  };
  const measure = { what: 'a window', bytes: 25, limitBytes: 10, perConnectionEndBytes: 10 };
  const measures = { kind: 'measures', atMs: 2, process: 'stmgr-1', measures: [measure] } as const;
  end(1);
  checker.observe(measures);
  assert.equal(checker.finish().length, 1);
  const other = new BoundsChecker();
  for (const connection of [1, 2]) {
    other.observe({ ...bytes, connection, bytes: new Uint8Array(1) });
    other.observe({ kind: 'connection-end', atMs: 1, connection });
  }
  other.observe(measures);
  assert.deepEqual(other.finish(), []);
});

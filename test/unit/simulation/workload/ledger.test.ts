import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskId } from '../../../../src/base/ids.ts';
import { Ledger } from '../../../../src/simulation/workload/ledger.ts';

test('emits have numbers in their order, and are found by them', () => {
  const ledger = new Ledger();
  let nowMs = 5;
  ledger.useClock(() => nowMs);
  const life = ledger.open(taskId(3), 'split', 1);
  assert.equal(ledger.emit(life, 'default', 1, 2), 0);
  nowMs = 6;
  assert.equal(ledger.emit(life, 'other', 3, 4), 1);
  assert.deepEqual(ledger.emitted(1), {
    life: 0,
    stream: 'other',
    firstKey: 3,
    secondKey: 4,
    atMs: 6,
  });
  assert.equal(ledger.emitted(2), undefined);
  assert.equal(ledger.emitCount, 2);
});

test('a refused emit is no tuple, and its number is not used again', () => {
  const ledger = new Ledger();
  const life = ledger.open(taskId(3), 'split', 0);
  ledger.refuse(ledger.emit(life, 'default', 0, 0));
  assert.equal(ledger.emitted(0), undefined);
  assert.equal(ledger.emit(life, 'default', 0, 0), 1);
});

test('each start of a task is a life of its own', () => {
  const ledger = new Ledger();
  const first = ledger.open(taskId(3), 'split', 0);
  const second = ledger.open(taskId(3), 'split', 0);
  ledger.open(taskId(4), 'split', 1);
  ledger.execute(second, 9);
  ledger.beginFinish(second);
  ledger.end(second);
  assert.deepEqual(ledger.livesOf(taskId(3)), [first, second]);
  assert.deepEqual(ledger.executed(0), { tuple: 9, life: 1, atMs: 0 });
  assert.deepEqual([first.endedAtMs, second.endedAtMs], [undefined, 0]);
  assert.deepEqual([second.finishCalls, second.executesBeforeFinish], [1, 1]);
});

test('counts belong to tasks and outlive them', () => {
  const ledger = new Ledger();
  assert.equal(ledger.count('call', taskId(1)), 1);
  assert.equal(ledger.count('call', taskId(1)), 2);
  assert.equal(ledger.count('call', taskId(2)), 1);
  assert.equal(ledger.counted('call', taskId(1)), 2);
  assert.equal(ledger.counted('input', taskId(1)), 0);
});

test('it grows as long as it must', () => {
  const ledger = new Ledger();
  const life = ledger.open(taskId(1), 'source', 0);
  for (let tuple = 0; tuple < 10_000; tuple += 1) ledger.emit(life, 'default', tuple + 1, 0);
  assert.equal(ledger.emitted(0)?.firstKey, 1);
  assert.equal(ledger.emitted(9_999)?.firstKey, 10_000);
});

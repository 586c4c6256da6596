import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReplaySource } from '../../../../src/simulation/workload/replay-source.ts';

/** Takes everything there is, as tuples 100, 101, … of their records. */
function emitAll(source: ReplaySource, from = 100): readonly number[] {
  const records: number[] = [];
  for (let taken = source.take(); taken !== undefined; taken = source.take()) {
    source.sent(taken.record, from + records.length);
    records.push(taken.record);
  }
  return records;
}

test('records are read in order, and the source is settled when all are acked', () => {
  const source = new ReplaySource(2);
  assert.deepEqual(source.take(), { record: 0, isNew: true });
  source.sent(0, 7);
  assert.deepEqual(emitAll(source), [1]);
  assert.deepEqual([source.isRead, source.isSettled, source.pending], [true, false, 2]);
  source.acked(100);
  source.acked(7);
  source.acked(7);
  assert.deepEqual([source.isSettled, source.count('done')], [true, 2]);
});

test('what failed is emitted again when it is released, before what is new', () => {
  const source = new ReplaySource(3);
  source.sent(source.take()?.record ?? -1, 5);
  assert.equal(source.failed(5), 0);
  assert.equal(source.count('waiting'), 1);
  assert.deepEqual(source.take(), { record: 1, isNew: true });
  source.release(0);
  source.release(0);
  assert.deepEqual(source.take(), { record: 0, isNew: false });
  assert.deepEqual(source.take(), { record: 2, isNew: true });
  assert.equal(source.hasNext, false);
});

test('a source with something at rest is not read to its end', () => {
  const source = new ReplaySource(1);
  emitAll(source);
  source.failed(100);
  assert.deepEqual([source.hasNext, source.isRead, source.isSettled], [false, false, false]);
  source.releaseAll();
  assert.equal(source.hasNext, true);
});

test('a record that failed too often is given up', () => {
  const source = new ReplaySource(1);
  for (const isGivenUp of [false, false, true]) {
    emitAll(source);
    const record = source.failed(100, 2);
    assert.equal(record === undefined, isGivenUp);
    source.releaseAll();
  }
  assert.deepEqual([source.isSettled, source.count('given-up')], [true, 1]);
});

test('a new process gets what the one before had pending, at rest or waiting', () => {
  const source = new ReplaySource(4);
  emitAll(source);
  source.acked(101);
  source.failed(102);
  source.begin();
  assert.deepEqual([source.pending, source.isRead], [0, false]);
  assert.deepEqual(emitAll(source), [0, 2, 3]);
  assert.equal(source.failed(999), undefined);
});

test('what could not be emitted comes first again', () => {
  const source = new ReplaySource(2);
  const taken = source.take();
  source.putBack(taken?.record ?? -1);
  assert.deepEqual(emitAll(source), [0, 1]);
});

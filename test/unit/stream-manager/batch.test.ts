import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { Batch } from '../../../src/stream-manager/batch.ts';
import { BATCH_BYTES, BatchPool } from '../../../src/stream-manager/batch-pool.ts';
import { FlushSchedule } from '../../../src/stream-manager/flush-schedule.ts';
import { LocalSource } from '../../../src/stream-manager/local-source.ts';
import {
  STREAM_MESSAGE_HEAD_MAX,
  STREAM_MESSAGE_TAIL_MAX,
} from '../../../src/wire/tuple-stream-message.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  aTuple,
  headerOf,
  openTuple,
  readTupleSet,
  tupleSetBytes,
} from '../../support/tuple-sets.ts';

function aSource(task = 7): LocalSource {
  return new LocalSource(taskId(task), 1_024, new FlushSchedule(new ManualClock()));
}

function aBatch(tupleBytes = 32, pool = new BatchPool()): Batch {
  return new Batch(pool, aSource(), headerOf('word'), tupleBytes);
}

function append(batch: Batch, ...values: readonly unknown[]): void {
  const tuple = openTuple(aTuple(...values));
  batch.append(tuple.bytes, tuple.tupleStart, tuple.tupleEnd, 1);
}

function bytesOf(batch: Batch): Buffer {
  return Buffer.from(batch.bytes.subarray(batch.start, batch.end));
}

describe('Batch', () => {
  for (const count of [1, 3, 200, 2_000]) {
    it(`makes the bytes that the generated codec makes of ${count} tuples`, () => {
      const texts = Array.from({ length: count }, (_, index) =>
        `w${index}`.repeat(1 + (index % 9)),
      );
      const batch = aBatch(count * 64);
      for (const text of texts) append(batch, text);
      batch.seal();
      const tuples = texts.map((text) => aTuple(text));
      assert.deepEqual(bytesOf(batch), Buffer.from(tupleSetBytes({ task: 7, tuples })));
      assert.equal(batch.tupleCount, count);
      assert.equal(batch.byteLength, bytesOf(batch).length);
    });
  }

  it('copies long tuples unchanged as well as short ones', () => {
    const batch = aBatch(20_000);
    append(batch, 'x'.repeat(19_000));
    append(batch, 'y');
    batch.seal();
    const tuples = [aTuple('x'.repeat(19_000)), aTuple('y')];
    assert.deepEqual(bytesOf(batch), Buffer.from(tupleSetBytes({ task: 7, tuples })));
  });

  for (const length of [1, 60, 300, 20_000]) {
    it(`writes a key into the tuple appended last, of ${length} bytes`, () => {
      const batch = aBatch(60_000);
      append(batch, 'before');
      const tuple = openTuple(aTuple('x'.repeat(length)));
      batch.append(tuple.bytes, tuple.tupleStart, tuple.tupleEnd, 1);
      batch.setKey(tuple.tupleEnd - tuple.keyStart, 0x89abcdef | 0, 0x01234567);
      append(batch, 'behind');
      batch.seal();
      const keys = readTupleSet(bytesOf(batch)).data?.tuples.map(({ key }) => key);
      assert.deepEqual(keys, [0n, 0x0123456789abcdefn, 0n]);
    });
  }

  it('that waits has its trees to itself', () => {
    const batch = aBatch();
    append(batch, 'word');
    const shared = Int32Array.of(1, 2, 3);
    batch.roots = shared;
    batch.seal();
    batch.compact();
    shared.fill(9);
    assert.deepEqual([...(batch.roots ?? [])], [1, 2, 3]);
  });

  it('leaves room around the set for what a sink writes', () => {
    const batch = aBatch(BATCH_BYTES);
    while (batch.accepts(headerOf('word'), 28)) append(batch, 'fourteen bytes');
    batch.seal();
    assert.ok(batch.start >= STREAM_MESSAGE_HEAD_MAX);
    assert.ok(batch.end + STREAM_MESSAGE_TAIL_MAX <= batch.bytes.length);
  });

  it('takes tuples of its own stream only, and only those that fit', () => {
    const batch = aBatch();
    assert.ok(batch.accepts(headerOf('word'), 1_000));
    assert.ok(!batch.accepts(headerOf('word', 'other'), 1_000));
    assert.ok(!batch.accepts(headerOf('word'), batch.bytes.length));
  });

  it('holds a first tuple of any size', () => {
    const text = 'z'.repeat(60_000);
    const tuple = openTuple(aTuple(text));
    const batch = aBatch(tuple.tupleEnd - tuple.tupleStart);
    append(batch, text);
    batch.seal();
    assert.deepEqual(
      bytesOf(batch),
      Buffer.from(tupleSetBytes({ task: 7, tuples: [aTuple(text)] })),
    );
  });

  it('shrinks when it has to wait, and gives the large buffer back', () => {
    const pool = new BatchPool();
    const batch = aBatch(32, pool);
    append(batch, 'small');
    batch.seal();
    const before = bytesOf(batch);
    const large = batch.bytes;
    batch.compact();
    assert.deepEqual(bytesOf(batch), before);
    assert.ok(batch.bytes.length < 256, `${batch.bytes.length} bytes`);
    assert.ok(batch.end + STREAM_MESSAGE_TAIL_MAX <= batch.bytes.length);
    assert.equal(pool.take(32), large);
  });
});

describe('BatchPool', () => {
  it('gives the same buffer again, and keeps none that is larger than a batch', () => {
    const pool = new BatchPool();
    const buffer = pool.take(10);
    const huge = pool.take(10 * BATCH_BYTES);
    assert.ok(huge.length >= 10 * BATCH_BYTES);
    pool.give(huge);
    pool.give(buffer);
    assert.equal(pool.take(10), buffer);
    assert.notEqual(pool.take(10), huge);
  });
});

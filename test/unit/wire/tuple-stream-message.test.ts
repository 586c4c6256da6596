import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import * as fc from 'fast-check';
import { AssertionError } from '../../../src/base/assert.ts';
import { hasCode } from '../../../src/base/errors.ts';
import { TupleStreamMessageSchema } from '../../../src/wire/generated/stmgr_pb.js';
import {
  grantedBytesMessage,
  STREAM_MESSAGE_HEAD_MAX,
  STREAM_MESSAGE_TAIL_MAX,
  TupleStreamMessageReader,
  writeStreamMessageHead,
  writeStreamMessageTail,
} from '../../../src/wire/tuple-stream-message.ts';

const int32 = fc.integer();
const tasks = fc.nat({ max: 2 ** 31 - 1 });
const setBytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.constantFrom(0, 127, 128, 16_383, 16_384, 40_000).map((size) => new Uint8Array(size).fill(7)),
);

function canonical(fields: {
  taskId: number;
  set: Uint8Array;
  srcTaskId: number;
  numTuples: number;
  grantedBytes?: bigint;
}): Uint8Array {
  return toBinary(TupleStreamMessageSchema, create(TupleStreamMessageSchema, fields));
}

suite('TupleStreamMessage', () => {
  test('is written around a set as the generated code writes it', () => {
    fc.assert(
      fc.property(setBytes, tasks, tasks, tasks, (set, taskId, srcTaskId, numTuples) => {
        const setStart = STREAM_MESSAGE_HEAD_MAX;
        const setEnd = setStart + set.length;
        const bytes = new Uint8Array(setEnd + STREAM_MESSAGE_TAIL_MAX);
        bytes.set(set, setStart);
        const start = writeStreamMessageHead(bytes, setStart, setEnd, taskId);
        const end = writeStreamMessageTail(bytes, setEnd, srcTaskId, numTuples);
        const expected = canonical({ taskId, set, srcTaskId, numTuples });
        assert.deepEqual(bytes.subarray(start, end), expected);
      }),
    );
  });

  test('a grant has an empty set', () => {
    fc.assert(
      fc.property(tasks, fc.nat({ max: Number.MAX_SAFE_INTEGER }), (taskId, count) => {
        const set = new Uint8Array(0);
        const grantedBytes = BigInt(count);
        const expected = canonical({ taskId, set, srcTaskId: 0, numTuples: 0, grantedBytes });
        assert.deepEqual(grantedBytesMessage(taskId, count), expected);
      }),
    );
  });

  test('a grant tells what of it is lost', () => {
    const reader = new TupleStreamMessageReader();
    const count = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(tasks, fc.nat(1), count, (taskId, granted, lost) => {
        const head = { taskId, set: new Uint8Array(0), srcTaskId: 0, numTuples: 0 };
        const amounts = { grantedBytes: BigInt(granted), lostBytes: BigInt(lost) };
        const bytes = grantedBytesMessage(taskId, granted, lost);
        assert.deepEqual(bytes, canonical({ ...head, ...amounts }));
        reader.open(bytes, 0, bytes.length);
        assert.deepEqual([reader.grantedBytes, reader.lostBytes], [granted, lost]);
        const without = grantedBytesMessage(taskId, granted);
        reader.open(without, 0, without.length);
        assert.equal(reader.lostBytes, 0);
      }),
    );
  });

  test('is read as the generated code wrote it', () => {
    const reader = new TupleStreamMessageReader();
    const grants = fc.option(fc.nat({ max: Number.MAX_SAFE_INTEGER }), { nil: undefined });
    fc.assert(
      fc.property(
        setBytes,
        int32,
        int32,
        int32,
        grants,
        fc.nat(4),
        (set, taskId, srcTaskId, numTuples, grant, offset) => {
          const message = canonical({
            taskId,
            set,
            srcTaskId,
            numTuples,
            ...(grant !== undefined && { grantedBytes: BigInt(grant) }),
          });
          const bytes = new Uint8Array(offset + message.length + 3).fill(0xff);
          bytes.set(message, offset);
          reader.open(bytes, offset, offset + message.length);
          assert.equal(reader.destinationTask, taskId);
          assert.equal(reader.sourceTask, srcTaskId);
          assert.equal(reader.tupleCount, numTuples);
          assert.equal(reader.grantedBytes, grant ?? 0);
          assert.deepEqual(bytes.slice(reader.setStart, reader.setEnd), set);
        },
      ),
    );
  });

  test('cut or changed bytes are read as the generated code reads them, or refused', () => {
    const reader = new TupleStreamMessageReader();
    const whole = canonical({
      taskId: 300,
      set: Uint8Array.of(1, 2, 3, 4),
      srcTaskId: 5,
      numTuples: 2,
      grantedBytes: 70_000n,
    });
    const changes = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 3 });
    fc.assert(
      fc.property(changes, fc.nat(whole.length), (all, end) => {
        const bytes = whole.slice(0, end);
        for (const [at, byte] of all) if (at < end) bytes[at] = byte;
        try {
          reader.open(bytes, 0, end);
        } catch (error) {
          assert.ok(hasCode(error, 'PACKET_MALFORMED'), String(error));
          return;
        }
        const message = fromBinary(TupleStreamMessageSchema, bytes);
        assert.equal(reader.destinationTask, message.taskId);
        assert.equal(reader.sourceTask, message.srcTaskId);
        assert.equal(reader.tupleCount, message.numTuples);
        assert.deepEqual(bytes.slice(reader.setStart, reader.setEnd), message.set);
      }),
      { numRuns: 3000 },
    );
  });

  test('a missing field is malformed', () => {
    const fields = [
      [0x08, 1],
      [0x12, 0],
      [0x18, 1],
      [0x20, 0],
    ];
    const reader = new TupleStreamMessageReader();
    for (const left of fields) {
      const bytes = Uint8Array.from(fields.filter((field) => field !== left).flat());
      assert.throws(
        () => reader.open(bytes, 0, bytes.length),
        (error) => hasCode(error, 'PACKET_MALFORMED'),
      );
    }
  });

  test('wants room around the set', () => {
    const bytes = new Uint8Array(10);
    assert.throws(() => writeStreamMessageHead(bytes, 1, 5, 1), AssertionError);
    assert.throws(() => writeStreamMessageTail(bytes, 8, 1, 1), AssertionError);
    assert.throws(() => writeStreamMessageHead(bytes, 5, 5, -1), AssertionError);
  });
});

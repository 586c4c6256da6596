import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import * as fc from 'fast-check';
import { encodeFailDetail } from '../../../src/wire/fail-detail.ts';
import { FailKind, HeronTupleSet2Schema } from '../../../src/wire/generated/tuple_pb.js';
import { SettledRoots } from '../../../src/wire/settled-roots.ts';

const low = (value: bigint): number => Number(BigInt.asIntN(32, value));
const high = (value: bigint): number => Number(BigInt.asIntN(32, value >> 32n));
const keys = fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { maxLength: 50 });
const long = fc.integer({ min: 100, max: 300 }).map((length) => 'x'.repeat(length));
const message = fc.option(fc.oneof(fc.string(), long), { nil: undefined });
const fails = fc.array(fc.record({ key: keys.map(([key = 0n]) => key), message }), {
  maxLength: 20,
});

function detailOf(text: string | undefined): Uint8Array {
  if (text === undefined) return new Uint8Array(0);
  const error = { message: text, stack: undefined };
  return encodeFailDetail({ kind: 'thrown', component: undefined, task: undefined, error });
}

function setOf(settled: SettledRoots, sourceTask: number): Uint8Array {
  const bytes = Buffer.alloc(settled.byteLength(sourceTask) + 2, 0xee);
  assert.equal(settled.writeSet(bytes, 1, sourceTask), bytes.length - 1);
  return bytes.subarray(1, -1);
}

suite('SettledRoots', () => {
  test('writes the bytes that the generated code writes', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), keys, fails, (task, sourceTask, acked, failed) => {
        const settled = new SettledRoots(task);
        // Twice: what was cleared leaves nothing behind.
        for (let round = 0; round < 2; round += 1) {
          assert.equal(settled.isEmpty, true);
          for (const key of acked) settled.addAck(low(key), high(key));
          for (const fail of failed) {
            settled.addFail(low(fail.key), high(fail.key), detailOf(fail.message));
          }
          assert.equal(settled.ackCount, acked.length);
          assert.equal(settled.failCount, failed.length);
          const root = (key: bigint) => ({ roots: [{ taskid: task, key }], ackedtuple: 0n });
          const expected = create(HeronTupleSet2Schema, {
            srcTaskId: sourceTask,
            control: {
              acks: acked.map(root),
              fails: failed.map((fail) => ({
                ...root(fail.key),
                ...(fail.message !== undefined && {
                  detail: { kind: FailKind.FAIL_THROWN, message: fail.message },
                }),
              })),
            },
          });
          const bytes = Buffer.from(toBinary(HeronTupleSet2Schema, expected));
          assert.deepEqual(Buffer.from(setOf(settled, sourceTask)), bytes);
          settled.clear();
        }
      }),
    );
  });

  test('is full from 32 KiB on', () => {
    const settled = new SettledRoots(1);
    let count = 0;
    for (; !settled.isFull; count += 1) settled.addAck(count, count);
    assert.ok(setOf(settled, 1).length >= 32 * 1024);
    assert.ok(setOf(settled, 1).length < 33 * 1024);
    settled.clear();
    settled.addFail(1, 1, new Uint8Array(40 * 1024));
    assert.equal(settled.isFull, true);
  });
});

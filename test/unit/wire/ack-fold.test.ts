import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import * as fc from 'fast-check';
import { AckFold } from '../../../src/wire/ack-fold.ts';
import { type AckTuple, HeronTupleSetSchema } from '../../../src/wire/generated/tuple_pb.js';

interface Added {
  readonly task: number;
  readonly root: bigint;
  readonly key: bigint;
  readonly kind: 'ack' | 'emit';
}

const low = (value: bigint): number => Number(BigInt.asIntN(32, value));
const high = (value: bigint): number => Number(BigInt.asIntN(32, value >> 32n));

function add(fold: AckFold, { task, root, key, kind }: Added): void {
  fold.add(task, low(root), high(root), low(key), high(key), kind);
}

/** Writes into the middle of a region and reads what the generated code would have written, too. */
function written(fold: AckFold, sourceTask = 3) {
  const start = 5;
  const bytes = new Uint8Array(start + fold.byteLengthMax + 7).fill(0xee);
  const end = fold.writeSet(bytes, start, sourceTask);
  assert.ok(end <= start + fold.byteLengthMax);
  assert.ok(bytes.subarray(end).every((byte) => byte === 0xee));
  const set = fromBinary(HeronTupleSetSchema, bytes.subarray(start, end));
  assert.deepEqual(toBinary(HeronTupleSetSchema, set), bytes.slice(start, end));
  return set;
}

const seen = (acks: readonly AckTuple[] | undefined) =>
  (acks ?? []).map(({ roots, ackedtuple }) => [roots[0]?.taskid, roots[0]?.key, ackedtuple]);

/** Few roots, so that they come again; also such as differ in one half only. */
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const root = fc.oneof(
  fc.constantFrom(0n, 1n, -1n, 2n ** 32n, 2n ** 32n + 1n, 2n ** 63n - 1n, -(2n ** 63n)),
  int64,
);
const added: fc.Arbitrary<Added> = fc.record({
  task: fc.oneof(fc.constantFrom(0, 1, 2), fc.nat()),
  root,
  key: int64,
  kind: fc.constantFrom('ack', 'emit'),
});

suite('AckFold', () => {
  test('writes one entry a root, with the XOR of its keys, as the generated code would', () => {
    const fold = new AckFold();
    fc.assert(
      fc.property(fc.array(added, { maxLength: 60 }), fc.nat(), (all, sourceTask) => {
        fold.clear();
        const expected = new Map<string, Added>();
        for (const one of all) {
          add(fold, one);
          const id = `${one.task} ${one.root}`;
          const before = expected.get(id);
          const key = BigInt.asIntN(64, (before?.key ?? 0n) ^ one.key);
          const isAck = before?.kind === 'ack' || one.kind === 'ack';
          expected.set(id, { ...one, key, kind: isAck ? 'ack' : 'emit' });
        }
        assert.equal(fold.count, expected.size);
        const set = written(fold, sourceTask);
        assert.equal(set.srcTaskId, sourceTask);
        const of = (kind: string) =>
          [...expected.values()]
            .filter((one) => one.kind === kind)
            .map((one) => [one.task, one.root, one.key]);
        assert.deepEqual(seen(set.control?.acks), of('ack'));
        assert.deepEqual(seen(set.control?.emits), of('emit'));
        assert.deepEqual(set.control?.fails, []);
      }),
    );
  });

  test('is full after 1,024 roots, and takes more of those it has', () => {
    const fold = new AckFold();
    for (let index = 0; index < 1_024; index += 1) {
      assert.equal(fold.isFull, false);
      fold.add(7, index, 0, 1, 0, 'ack');
    }
    assert.equal(fold.isFull, true);
    for (let index = 0; index < 1_024; index += 1) fold.add(7, index, 0, 3, 0, 'ack');
    assert.equal(fold.count, 1_024);
    assert.deepEqual(
      seen(written(fold).control?.acks),
      Array.from({ length: 1_024 }, (_, index) => [7, BigInt(index), 2n]),
    );
  });

  test('forgets all of it, as often as it likes', () => {
    const fold = new AckFold();
    // Beyond 2^21 times, after which the stamps of its slots begin again.
    for (let round = 0; round < 2_100_000; round += 1) {
      fold.add(1, 5, 0, 1, 0, 'ack');
      assert.equal(fold.count, 1);
      fold.clear();
    }
    fold.add(1, 5, 0, 9, 0, 'emit');
    assert.deepEqual(seen(written(fold).control?.emits), [[1, 5n, 9n]]);
  });

  test('writes an empty set', () => {
    const set = written(new AckFold(), 4);
    assert.deepEqual(set, create(HeronTupleSetSchema, { srcTaskId: 4, control: {} }));
  });
});

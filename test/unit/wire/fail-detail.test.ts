import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import * as fc from 'fast-check';
import { hasCode } from '../../../src/base/errors.ts';
import { componentName, taskId } from '../../../src/base/ids.ts';
import type { FailKind, FailReason } from '../../../src/model/fail-reason.ts';
import {
  decodeFailDetail,
  encodeFailDetail,
  failKindOf,
  failSet,
} from '../../../src/wire/fail-detail.ts';
import {
  FailDetailSchema,
  FailKind as WireKind,
  HeronTupleSetSchema,
} from '../../../src/wire/generated/tuple_pb.js';
import { RootList } from '../../../src/wire/root-list.ts';

const WIRE_KINDS: Record<FailKind, WireKind> = {
  'time-out': WireKind.FAIL_TIME_OUT,
  explicit: WireKind.FAIL_EXPLICIT,
  thrown: WireKind.FAIL_THROWN,
  'lost-instance': WireKind.FAIL_LOST_INSTANCE,
  'lost-stream-manager': WireKind.FAIL_LOST_STREAM_MANAGER,
  dropped: WireKind.FAIL_DROPPED,
};

const text = fc.string({ unit: 'grapheme', maxLength: 300 });
const plain = { noNullPrototype: true };
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const reasons: fc.Arbitrary<FailReason> = fc.record(
  {
    kind: fc.constantFrom(...(Object.keys(WIRE_KINDS) as FailKind[])),
    component: optional(text.map(componentName)),
    task: optional(fc.nat().map(taskId)),
    error: optional(fc.record({ message: text, stack: optional(text) }, plain)),
  },
  plain,
);

suite('FailDetail', () => {
  test('is the bytes that the generated code writes, and comes back', () => {
    fc.assert(
      fc.property(reasons, fc.nat(9), (reason, offset) => {
        const bytes = encodeFailDetail(reason);
        const message = fromBinary(FailDetailSchema, bytes);
        assert.deepEqual(Buffer.from(toBinary(FailDetailSchema, message)), Buffer.from(bytes));
        assert.equal(message.kind, WIRE_KINDS[reason.kind]);
        const has = (field: string): boolean => Object.hasOwn(message, field);
        assert.equal(has('component') ? message.component : undefined, reason.component);
        assert.equal(has('taskId') ? message.taskId : undefined, reason.task);
        assert.equal(has('message') ? message.message : undefined, reason.error?.message);
        assert.equal(has('stack') ? message.stack : undefined, reason.error?.stack);
        const inside = Buffer.concat([Buffer.alloc(offset, 0xee), bytes, Buffer.alloc(3, 0xee)]);
        assert.deepEqual(decodeFailDetail(inside, offset, offset + bytes.length), reason);
        assert.equal(failKindOf(bytes), reason.kind);
      }),
    );
  });

  test('says nothing but that a bolt failed the tuple when there is none', () => {
    const nothing = { component: undefined, task: undefined, error: undefined };
    assert.deepEqual(decodeFailDetail(new Uint8Array(0), 0, 0), { kind: 'explicit', ...nothing });
  });

  test('refuses kinds that it does not know', () => {
    for (const kind of [0, 7]) {
      assert.throws(
        () => decodeFailDetail(Uint8Array.of(0x08, kind), 0, 2),
        (error) => hasCode(error, 'PACKET_MALFORMED'),
      );
    }
  });

  test('passes over fields of a later version', () => {
    const later = Uint8Array.of(0x08, 3, 0x32, 2, 0, 0);
    assert.equal(decodeFailDetail(later, 0, later.length).kind, 'thrown');
  });
});

suite('failSet', () => {
  const roots = fc.array(
    fc.record(
      { taskid: fc.nat(), key: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) },
      plain,
    ),
    { maxLength: 5 },
  );

  test('writes the set that the generated code writes', () => {
    fc.assert(
      fc.property(reasons, roots, fc.nat(), (reason, all, sourceTask) => {
        const list = new RootList();
        for (const { taskid, key } of all) {
          list.add(taskid, Number(BigInt.asIntN(32, key)), Number(BigInt.asIntN(32, key >> 32n)));
        }
        const detail = encodeFailDetail(reason);
        const bytes = failSet(sourceTask, list, detail);
        const set = fromBinary(HeronTupleSetSchema, bytes);
        assert.deepEqual(Buffer.from(toBinary(HeronTupleSetSchema, set)), Buffer.from(bytes));
        assert.equal(set.srcTaskId, sourceTask);
        const [fail] = set.control?.fails ?? [];
        assert.deepEqual(
          fail?.roots.map(({ taskid, key }) => ({ taskid, key })),
          all,
        );
        assert.equal(fail?.ackedtuple, 0n);
        assert.deepEqual(fail?.detail, fromBinary(FailDetailSchema, detail));
      }),
    );
  });
});

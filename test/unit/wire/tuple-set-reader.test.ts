import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import * as fc from 'fast-check';
import { hasCode } from '../../../src/base/errors.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { AckSetReader } from '../../../src/wire/ack-set-reader.ts';
import {
  type AckTuple,
  BackPressureSchema,
  FailDetailSchema,
  FailKind,
  HeronDataTupleSchema,
  type HeronTupleSet,
  HeronTupleSetSchema,
  type RootId,
} from '../../../src/wire/generated/tuple_pb.js';
import type { RootList } from '../../../src/wire/root-list.ts';
import { StreamHeaders } from '../../../src/wire/stream-header.ts';
import { TupleSetReader } from '../../../src/wire/tuple-set-reader.ts';
import { goldenPayloads } from '../../support/golden.ts';

const reader = new TupleSetReader(new StreamHeaders());
const ackReader = new AckSetReader();

/** A tuple set as both codecs see it; plain data, so that they can be compared. */
interface Seen {
  readonly sourceTask: number;
  readonly stream: readonly [component: string, stream: string] | undefined;
  readonly tuples: readonly SeenTuple[];
  readonly acks: readonly SeenAck[];
  readonly endOfInput: boolean;
  readonly consumedBytes: number;
  readonly grantedBytes: number;
  readonly backPressure: string;
}

interface SeenTuple {
  readonly key: bigint;
  readonly roots: readonly SeenRoot[];
  readonly values: readonly string[];
  readonly destinations: readonly number[];
}

interface SeenAck {
  readonly kind: string;
  readonly key: bigint;
  readonly detail: string;
  readonly roots: readonly SeenRoot[];
}

interface SeenRoot {
  readonly task: number;
  readonly key: bigint;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const join64 = (high: number, low: number): bigint => (BigInt(high) << 32n) | BigInt(low >>> 0);

function seenByHand(bytes: Uint8Array, start = 0, end = bytes.length): Seen {
  reader.open(bytes, start, end);
  const { stream } = reader;
  const tuples: SeenTuple[] = [];
  while (reader.next()) tuples.push(tupleAtHand());
  const acks: SeenAck[] = [];
  ackReader.open(bytes, reader.controlStart, reader.controlEnd);
  while (ackReader.next()) {
    const { kind, keyHigh, keyLow, roots, detailStart, detailEnd } = ackReader;
    const detail = hex(bytes.subarray(detailStart, detailEnd));
    acks.push({ kind, key: join64(keyHigh, keyLow), detail, roots: rootsAtHand(roots) });
  }
  return {
    sourceTask: reader.sourceTask,
    stream: stream && [stream.component, stream.stream],
    tuples,
    acks,
    endOfInput: reader.endOfInput,
    consumedBytes: reader.consumedBytes,
    grantedBytes: reader.grantedBytes,
    backPressure: hex(bytes.subarray(reader.backPressureStart, reader.backPressureEnd)),
  };
}

function tupleAtHand(): SeenTuple {
  const indices = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
  const key = join64(reader.keyHigh, reader.keyLow);
  const keyBytes = Buffer.from(reader.bytes.subarray(reader.keyStart, reader.keyStart + 8));
  assert.equal(keyBytes.readBigInt64LE(), key);
  return {
    key,
    roots: rootsAtHand(reader.roots),
    values: indices(reader.valueCount).map((index) =>
      hex(reader.bytes.subarray(reader.valueStart(index), reader.valueEnd(index))),
    ),
    destinations: indices(reader.destinationCount).map((index) => reader.destination(index)),
  };
}

function rootsAtHand(roots: RootList): SeenRoot[] {
  return Array.from({ length: roots.count }, (_, index) => ({
    task: roots.task(index),
    key: join64(roots.keyHigh(index), roots.keyLow(index)),
  }));
}

function seenByGenerated(bytes: Uint8Array): Seen {
  return seenOf(fromBinary(HeronTupleSetSchema, bytes));
}

function seenOf(set: HeronTupleSet): Seen {
  const { data, control } = set;
  const seenRoots = (roots: readonly RootId[]): SeenRoot[] =>
    roots.map(({ taskid, key }) => ({ task: taskid, key }));
  const seenAcks = (kind: string, acks: readonly AckTuple[] | undefined): SeenAck[] =>
    (acks ?? []).map(({ ackedtuple, detail, roots }) => ({
      kind,
      key: ackedtuple,
      detail: detail === undefined ? '' : hex(toBinary(FailDetailSchema, detail)),
      roots: seenRoots(roots),
    }));
  return {
    sourceTask: set.srcTaskId,
    stream: data?.stream && [data.stream.componentName, data.stream.id],
    tuples: (data?.tuples ?? []).map((tuple) => ({
      key: tuple.key,
      roots: seenRoots(tuple.roots),
      values: tuple.values.map(hex),
      destinations: tuple.destTaskIds,
    })),
    acks: [
      ...seenAcks('ack', control?.acks),
      ...seenAcks('fail', control?.fails),
      ...seenAcks('emit', control?.emits),
    ],
    endOfInput: set.endOfInput,
    consumedBytes: Number(set.consumedBytes),
    grantedBytes: Number(set.grantedBytes),
    backPressure:
      set.backPressure === undefined ? '' : hex(toBinary(BackPressureSchema, set.backPressure)),
  };
}

const int32 = fc.integer();
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const roots = fc.array(fc.record({ taskid: fc.nat(), key: int64 }), { maxLength: 3 });
const acks = fc.array(fc.record({ roots, ackedtuple: int64 }), { maxLength: 3 });
const detail = fc.record({ kind: fc.constant(FailKind.FAIL_THROWN), message: fc.string() });
const fails = fc.array(
  fc.record({ roots, ackedtuple: int64, detail }, { requiredKeys: ['roots', 'ackedtuple'] }),
  { maxLength: 3 },
);
const name = fc.string({ unit: 'grapheme', maxLength: 12 });
const bytesCount = fc.nat({ max: Number.MAX_SAFE_INTEGER }).map(BigInt);

const sets: fc.Arbitrary<MessageInitShape<typeof HeronTupleSetSchema>> = fc.record(
  {
    srcTaskId: int32,
    data: fc.record({
      stream: fc.record({ id: name, componentName: name }),
      tuples: fc.array(
        fc.record({
          key: int64,
          roots,
          values: fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 }),
          destTaskIds: fc.array(int32, { maxLength: 12 }),
        }),
        { maxLength: 6 },
      ),
    }),
    control: fc.record({ acks, fails, emits: acks }),
    endOfInput: fc.boolean(),
    consumedBytes: bytesCount,
    grantedBytes: bytesCount,
    backPressure: fc.record({ isHeld: fc.boolean(), component: fc.string() }),
  },
  { requiredKeys: ['srcTaskId'] },
);

function encode(set: MessageInitShape<typeof HeronTupleSetSchema>): Uint8Array {
  return toBinary(HeronTupleSetSchema, create(HeronTupleSetSchema, set));
}

const isMalformed = (error: unknown): boolean => hasCode(error, 'PACKET_MALFORMED');

/** All golden payloads that are tuple sets of either name. */
const goldenSets = goldenPayloads()
  .filter(({ type }) => /\.HeronTupleSet2?$/.test(type))
  .map(({ name: file, payload }) => ({ file, payload: new Uint8Array(payload) }));

suite('TupleSetReader', () => {
  test('reads what the generated code wrote', () => {
    fc.assert(
      fc.property(sets, fc.nat(5), (set, offset) => {
        const bytes = encode(set);
        const shifted = new Uint8Array(bytes.length + offset + 7).fill(0x12);
        shifted.set(bytes, offset);
        const seen = seenByHand(shifted, offset, offset + bytes.length);
        assert.deepEqual(seen, seenByGenerated(bytes));
      }),
      { numRuns: 500 },
    );
  });

  test('reads every golden tuple set as the generated code does', () => {
    assert.ok(goldenSets.length > 50);
    for (const { file, payload } of goldenSets) {
      assert.deepEqual(seenByHand(payload), seenByGenerated(payload), file);
    }
  });

  test('reads tuples of very many values, roots and destinations', () => {
    const range = Array.from({ length: 300 }, (_, index) => index);
    const bytes = encode({
      srcTaskId: 1,
      data: {
        stream: { id: 's', componentName: 'c' },
        tuples: [
          {
            key: 1n,
            roots: range.map((taskid) => ({ taskid, key: -1n })),
            values: range.map((value) => Uint8Array.of(value)),
            destTaskIds: range,
          },
        ],
      },
    });
    assert.deepEqual(seenByHand(bytes), seenByGenerated(bytes));
  });

  test('gives each tuple as bytes that go into another set unchanged', () => {
    const bytes = encode({
      srcTaskId: 1,
      data: {
        stream: { id: 's', componentName: 'c' },
        tuples: [
          { key: 5n, values: [new Uint8Array(200)] },
          { key: 6n, destTaskIds: [1, 2] },
        ],
      },
    });
    reader.open(bytes, 0, bytes.length);
    for (const key of [5n, 6n]) {
      assert.ok(reader.next());
      assert.equal(bytes[reader.tupleStart], 0x12);
      const length = reader.tupleEnd - reader.tupleStart;
      const body = bytes.subarray(reader.tupleStart + (length > 128 ? 3 : 2), reader.tupleEnd);
      assert.equal(fromBinary(HeronDataTupleSchema, body).key, key);
    }
    assert.equal(reader.next(), false);
    assert.equal(reader.next(), false);
  });

  test('one stream has one header, also over several sets', () => {
    const setOf = (stream: string): Uint8Array =>
      encode({ srcTaskId: 1, data: { stream: { id: stream, componentName: 'c' } } });
    const headerOf = (bytes: Uint8Array): unknown => {
      reader.open(bytes, 0, bytes.length);
      return reader.stream;
    };
    const first = headerOf(setOf('one'));
    assert.notEqual(headerOf(setOf('two')), first);
    assert.equal(headerOf(setOf('one')), first);
  });

  test('forgets the set before', () => {
    fc.assert(
      fc.property(sets, (set) => {
        seenByHand(encode(set));
        assert.deepEqual(seenByHand(encode({ srcTaskId: 3 })), {
          sourceTask: 3,
          stream: undefined,
          tuples: [],
          acks: [],
          endOfInput: false,
          consumedBytes: 0,
          grantedBytes: 0,
          backPressure: '',
        });
      }),
    );
  });

  test('passes over unknown fields at every level, groups too', () => {
    // 0x78: field 15, varint. 0x7d: field 15, four bytes. 0x7b … 0x7c: field 15, a group.
    const unknown = [0x78, 0x96, 0x01, 0x7d, 1, 2, 3, 4, 0x7b, 0x7b, 0x7c, 0x7a, 1, 0, 0x7c];
    const field = (tag: number, body: number[]): number[] => [tag, body.length, ...body];
    const tuple = [
      ...unknown,
      0x09,
      1,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      ...unknown,
      ...field(0x1a, [7]),
      ...unknown,
    ];
    const stream = [...field(0x0a, [0x73]), ...unknown, ...field(0x12, [0x63])];
    const data = [
      ...unknown,
      ...field(0x0a, stream),
      ...unknown,
      ...field(0x12, tuple),
      ...unknown,
    ];
    const bytes = Uint8Array.from([
      ...unknown,
      ...field(0x0a, data),
      ...unknown,
      0x18,
      9,
      ...unknown,
    ]);
    assert.deepEqual(seenByHand(bytes), seenByGenerated(bytes));
    assert.deepEqual(seenByHand(bytes).tuples[0]?.values, ['07']);
  });

  test('reads destinations that come packed', () => {
    const tuple = [0x09, 0, 0, 0, 0, 0, 0, 0, 0, 0x22, 3, 0x05, 0x80, 0x01];
    const data = [0x0a, 6, 0x0a, 1, 0x73, 0x12, 1, 0x63, 0x12, tuple.length, ...tuple];
    const bytes = Uint8Array.from([0x0a, data.length, ...data, 0x18, 9]);
    assert.deepEqual(seenByHand(bytes).tuples[0]?.destinations, [5, 128]);
  });

  const key = [0x09, 0, 0, 0, 0, 0, 0, 0, 0];
  const stream = [0x0a, 6, 0x0a, 1, 0x73, 0x12, 1, 0x63];
  const rows: Record<string, number[]> = {
    'without a source task': [0x0a, stream.length, ...stream],
    'with data twice': [0x0a, stream.length, ...stream, 0x0a, stream.length, ...stream, 0x18, 1],
    'with control twice': [0x12, 0, 0x12, 0, 0x18, 1],
    'with its stream twice': [0x0a, stream.length * 2, ...stream, ...stream, 0x18, 1],
    'with data that has no stream': [0x0a, 0, 0x18, 1],
    'with a tuple in front of its stream': [0x0a, 11 + 8, 0x12, 9, ...key, ...stream, 0x18, 1],
    'with a stream without a component': [0x0a, 5, 0x0a, 3, 0x0a, 1, 0x73, 0x18, 1],
    'with a tuple without a key': [0x0a, 10, ...stream, 0x12, 0, 0x18, 1],
    'with a root without a key': [0x0a, 23, ...stream, 0x12, 13, ...key, 0x12, 2, 0x08, 1, 0x18, 1],
    'with a root of a negative task': [
      ...Array.of(0x12, 33, 0x0a, 31, 0x0a, 20, 0x08),
      ...Array.from({ length: 9 }, () => 0xff),
      ...Array.of(0x01, 0x11, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0, 0, 0, 0, 0, 0, 0, 0, 0x18, 1),
    ],
    'with an ack without a key': [0x12, 2, 0x0a, 0, 0x18, 1],
    'with tag 0': [0x00, 0x18, 1],
    'with a group that does not end': [0x7b, 0x18, 1],
    'with the end of no group': [0x7c, 0x18, 1],
    'with groups in groups': [
      ...Array.from({ length: 200 }, () => 0x7b),
      ...Array.from({ length: 200 }, () => 0x7c),
      0x18,
      1,
    ],
    'with a varint that does not end': [0x18, ...Array.from({ length: 12 }, () => 0xff)],
    'with a length beyond its end': [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f],
    'with a length beyond 2^53': [0x0a, ...Array.from({ length: 9 }, () => 0xff), 0x01],
    'with a negative grant': [0x18, 1, 0xd0, 0x3e, ...Array.from({ length: 9 }, () => 0xff), 0x01],
  };
  for (const [what, bytes] of Object.entries(rows)) {
    test(`refuses a set ${what}`, () => {
      assert.throws(() => seenByHand(Uint8Array.from(bytes)), isMalformed);
    });
  }

  test('refuses every golden set that is cut short, unless the rest is a set too', () => {
    for (const { payload } of goldenSets) {
      for (let end = 0; end < payload.length; end += 1) assertSameVerdict(payload.slice(0, end));
    }
  });

  test('damaged golden bytes are read as the generated code reads them, or refused', () => {
    const seed = 20_240_229;
    const random = createSeededRandom(seed);
    for (let run = 0; run < 5000; run += 1) {
      const { payload } = goldenSets[random.below(goldenSets.length)] as { payload: Uint8Array };
      const bytes = payload.slice();
      for (let change = random.below(3); change >= 0; change -= 1) {
        bytes[random.below(bytes.length)] = random.below(256);
      }
      assertSameVerdict(bytes, `seed ${seed}, run ${run}: ${hex(bytes)}`);
    }
  });
});

/**
 * What the hand-made codec reads must be what the generated one reads. It may refuse more (it
 * checks required fields and wants no merging), never with another error.
 */
function assertSameVerdict(bytes: Uint8Array, hint?: string): void {
  let seen: Seen;
  try {
    seen = seenByHand(bytes);
  } catch (error) {
    assert.ok(isMalformed(error), `${hint}: ${String(error)}`);
    return;
  }
  assert.deepEqual(seen, seenByGenerated(bytes), hint);
}

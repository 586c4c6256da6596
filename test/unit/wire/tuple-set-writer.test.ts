import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import * as fc from 'fast-check';
import { AssertionError } from '../../../src/base/assert.ts';
import { hasCode } from '../../../src/base/errors.ts';
import { componentName, streamName } from '../../../src/base/ids.ts';
import { type HeronTupleSet, HeronTupleSetSchema } from '../../../src/wire/generated/tuple_pb.js';
import type { Roots } from '../../../src/wire/fail-detail.ts';
import { type StreamHeader, StreamHeaders } from '../../../src/wire/stream-header.ts';
import { TupleSetReader } from '../../../src/wire/tuple-set-reader.ts';
import {
  consumedBytesSet,
  endOfInputByPlanSet,
  endOfInputSet,
  grantedBytesSet,
  TupleSetWriter,
  tupleSetOverhead,
} from '../../../src/wire/tuple-set-writer.ts';
import { decodeValue } from '../../../src/wire/value-reader.ts';
import { values } from '../../support/arbitrary-values.ts';

const streams = new StreamHeaders();
const words = streams.of(componentName('sentences'), streamName('default'));

interface EmittedTuple {
  readonly values: readonly unknown[];
  readonly destinations: readonly number[];
  readonly roots?: readonly { readonly taskid: number; readonly key: bigint }[];
}

/** As the writer takes them; undefined when there are none. */
function rootsOf({ roots = [] }: EmittedTuple): Roots | undefined {
  if (roots.length === 0) return undefined;
  const halves = roots.map(({ key }) => new Int32Array(BigInt64Array.of(key).buffer));
  return {
    count: roots.length,
    task: (index) => roots[index]?.taskid ?? 0,
    keyLow: (index) => halves[index]?.[0] ?? 0,
    keyHigh: (index) => halves[index]?.[1] ?? 0,
  };
}

/** Writes one set into the middle of a region and returns its bytes. */
function writeSet(
  writer: TupleSetWriter,
  header: StreamHeader,
  task: number,
  tuples: readonly EmittedTuple[],
): Uint8Array {
  const region = new Uint8Array(1024 * 1024).fill(0xee);
  writer.begin(region, 10, region.length - 10, header, task);
  for (const tuple of tuples) {
    assert.ok(writer.addTuple(tuple.values, tuple.destinations, rootsOf(tuple)));
  }
  assert.equal(writer.tupleCount, tuples.length);
  writer.finish();
  assert.ok(writer.start >= 10 && writer.end <= region.length - 10);
  assert.ok(
    region.subarray(0, 10).every((byte) => byte === 0xee),
    'the room in front is untouched',
  );
  return region.slice(writer.start, writer.end);
}

/** What the generated code reads, after checking that it would have written the same bytes (W3). */
function readCanonical(bytes: Uint8Array): HeronTupleSet {
  const set = fromBinary(HeronTupleSetSchema, bytes);
  assert.deepEqual(toBinary(HeronTupleSetSchema, set), bytes);
  return set;
}

function valuesOf(set: HeronTupleSet): unknown[][] {
  return (set.data?.tuples ?? []).map((tuple) =>
    tuple.values.map((value) => decodeValue(value, 0, value.length)),
  );
}

suite('TupleSetWriter', () => {
  const tasks = fc.nat({ max: 2 ** 31 - 1 });
  const tuples = fc.array(
    fc.record({
      values: fc.array(values, { maxLength: 4 }),
      destinations: fc.array(tasks, { maxLength: 3 }),
      roots: fc.array(
        fc.record({ taskid: tasks, key: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) }),
        { maxLength: 12 },
      ),
    }),
    { maxLength: 8 },
  );

  test('writes the bytes that the generated code writes', () => {
    const writer = new TupleSetWriter();
    const name = fc.string({ unit: 'grapheme', maxLength: 20 });
    fc.assert(
      fc.property(name, name, tasks, tuples, (component, stream, task, all) => {
        const header = new StreamHeaders().of(componentName(component), streamName(stream));
        const set = readCanonical(writeSet(writer, header, task, all));
        assert.equal(set.srcTaskId, task);
        assert.equal(set.data?.stream?.componentName, component);
        assert.equal(set.data?.stream?.id, stream);
        assert.deepEqual(
          valuesOf(set),
          all.map((tuple) => tuple.values),
        );
        assert.ok(set.data?.tuples.every(({ key }) => key === 0n));
        assert.deepEqual(
          set.data?.tuples.map((tuple) => tuple.destTaskIds),
          all.map((tuple) => tuple.destinations),
        );
        assert.deepEqual(
          set.data?.tuples.map(({ roots }) => roots.map(({ taskid, key }) => `${taskid}:${key}`)),
          all.map(({ roots }) => roots.map(({ taskid, key }) => `${taskid}:${key}`)),
        );
      }),
    );
  });

  test('lengths of one, two, three and four bytes, in any order', () => {
    const writer = new TupleSetWriter();
    const sizes = [1, 100, 116, 117, 118, 127, 128, 129, 300, 5, 16_370, 16_384, 3, 70_000, 1, 130];
    const all = sizes.map((size) => ({ values: ['x'.repeat(size)], destinations: [] }));
    const set = readCanonical(writeSet(writer, words, 1, all));
    assert.deepEqual(
      valuesOf(set),
      all.map((tuple) => tuple.values),
    );
    const large = [{ values: ['x'.repeat(300_000), 'y'.repeat(300_000)], destinations: [] }];
    readCanonical(writeSet(writer, words, 1, large));
  });

  test('an empty set', () => {
    const set = readCanonical(writeSet(new TupleSetWriter(), words, 7, []));
    assert.deepEqual(set.data?.tuples, []);
  });

  test('fills a region to the last byte', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 600 }), fc.nat(300), (room, size) => {
        const region = new Uint8Array(tupleSetOverhead(words) + room + 5).fill(0xee);
        const regionEnd = region.length - 5;
        const writer = new TupleSetWriter();
        writer.begin(region, 0, regionEnd, words, 2 ** 31 - 1);
        const value = 'x'.repeat(size);
        let expected = 0;
        const tupleBytes = bytesOfTuple(value);
        while (writer.addTuple([value])) expected += 1;
        assert.equal(writer.tupleBytes, expected * tupleBytes);
        // The next one may be refused up to one byte early, where the guess of its length was too
        // long.
        assert.ok(room - expected * tupleBytes < tupleBytes + 1);
        writer.finish();
        assert.ok(writer.end <= regionEnd);
        assert.ok(region.subarray(regionEnd).every((byte) => byte === 0xee));
        const set = readCanonical(region.slice(writer.start, writer.end));
        assert.deepEqual(
          valuesOf(set),
          Array.from({ length: expected }, () => [value]),
        );
      }),
      { numRuns: 1000 },
    );
  });

  test('a tuple that does not fit leaves the set as it was (W2)', () => {
    const region = new Uint8Array(tupleSetOverhead(words) + 60);
    const writer = new TupleSetWriter();
    writer.begin(region, 0, region.length, words, 1);
    assert.ok(writer.addTuple(['first']));
    const bytes = writer.tupleBytes;
    assert.equal(writer.addTuple(['x'.repeat(100)]), false);
    assert.equal(writer.addTuple(['a', { b: 'x'.repeat(100) }]), false);
    assert.equal(
      writer.addTuple(
        ['a'],
        Array.from({ length: 50 }, () => 1),
      ),
      false,
    );
    assert.equal(writer.tupleBytes, bytes);
    assert.ok(writer.addTuple(['last']));
    writer.finish();
    const set = readCanonical(region.slice(writer.start, writer.end));
    assert.deepEqual(valuesOf(set), [['first'], ['last']]);
  });

  test('roots that do not fit leave the set as it was, and all behind it (W2)', () => {
    const overhead = tupleSetOverhead(words);
    for (let room = 0; room < 100; room += 1) {
      const region = new Uint8Array(overhead + room + 200).fill(0xee);
      const writer = new TupleSetWriter();
      writer.begin(region, 0, overhead + room, words, 1);
      const roots = Array.from({ length: 5 }, () => ({ taskid: 1, key: 7n }));
      const isAdded = writer.addTuple([], [], rootsOf({ values: [], destinations: [], roots }));
      assert.equal(writer.tupleCount, isAdded ? 1 : 0);
      assert.ok(region.subarray(overhead + room).every((byte) => byte === 0xee));
    }
  });

  test('a value that cannot be sent leaves the set as it was (W2)', () => {
    const region = new Uint8Array(1000);
    const writer = new TupleSetWriter();
    writer.begin(region, 0, region.length, words, 1);
    assert.ok(writer.addTuple(['first']));
    assert.throws(
      () => writer.addTuple(['a', () => 1]),
      (error) => hasCode(error, 'VALUE_NOT_SERIALIZABLE'),
    );
    assert.ok(writer.addTuple(['last']));
    assert.equal(writer.tupleCount, 2);
    writer.finish();
    const set = readCanonical(region.slice(writer.start, writer.end));
    assert.deepEqual(valuesOf(set), [['first'], ['last']]);
  });

  test('wants a region for an empty set, and task ids from 0 up', () => {
    const writer = new TupleSetWriter();
    const region = new Uint8Array(tupleSetOverhead(words));
    writer.begin(region, 0, region.length, words, 1);
    assert.throws(() => writer.begin(region, 1, region.length, words, 1), AssertionError);
    assert.throws(() => writer.begin(region, 0, region.length, words, -1), AssertionError);
    const roomy = new Uint8Array(1000);
    writer.begin(roomy, 0, roomy.length, words, 1);
    assert.throws(() => writer.addTuple([], [-1]), AssertionError);
  });
});

/** Tag, length, key, and the value's tag and length. */
function bytesOfTuple(value: string): number {
  const lengthBytes = (length: number): number => (length < 128 ? 1 : 2);
  const head = value.length < 32 ? 1 : value.length < 256 ? 2 : 3;
  const valueBytes = head + value.length;
  const body = 9 + 1 + lengthBytes(valueBytes) + valueBytes;
  return 1 + lengthBytes(body) + body;
}

test('sets without data say one thing each', () => {
  const canonical = (
    fields: Parameters<typeof create<typeof HeronTupleSetSchema>>[1],
  ): Uint8Array => toBinary(HeronTupleSetSchema, create(HeronTupleSetSchema, fields));
  for (const task of [0, 1, 127, 128, 2 ** 31 - 1]) {
    assert.deepEqual(endOfInputSet(task), canonical({ srcTaskId: task, endOfInput: true }));
    for (const planEpoch of [1, 300, 2 ** 40]) {
      const end = { srcTaskId: task, endOfInput: true, planEpoch: BigInt(planEpoch) };
      const bytes = endOfInputByPlanSet(task, planEpoch);
      assert.deepEqual(bytes, canonical(end));
      const reader = new TupleSetReader(new StreamHeaders());
      reader.open(bytes, 0, bytes.length);
      assert.deepEqual([reader.endOfInput, reader.planEpoch], [true, planEpoch]);
      const other = endOfInputSet(task);
      reader.open(other, 0, other.length);
      assert.equal(reader.planEpoch, 0);
    }
    for (const count of [0, 1, 127, 128, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
      const consumed = canonical({ srcTaskId: task, consumedBytes: BigInt(count) });
      assert.deepEqual(consumedBytesSet(task, count), consumed);
      const granted = canonical({ srcTaskId: task, grantedBytes: BigInt(count) });
      assert.deepEqual(grantedBytesSet(task, count), granted);
    }
  }
});
